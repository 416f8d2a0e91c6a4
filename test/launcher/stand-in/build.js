// Stands in for the compilers.
import { copyFileSync, mkdirSync } from 'node:fs';

console.log('compiled');
mkdirSync('libs/idempotency/dist', { recursive: true });
mkdirSync('apps/payments/dist', { recursive: true });
copyFileSync('app.js', 'apps/payments/dist/main.js');
