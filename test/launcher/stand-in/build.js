// Stands in for the compilers.
import { copyFileSync, mkdirSync } from 'node:fs';

console.log('compiled');
mkdirSync('libs/idempotency/dist', { recursive: true });
for (const app of ['payments', 'psp']) {
  mkdirSync(`apps/${app}/dist`, { recursive: true });
  copyFileSync('app.js', `apps/${app}/dist/main.js`);
}
