#!/usr/bin/env node
// Not built itself, so that npm finds it in a checkout that is not built yet.
import '../dist/esm/cli/main.js';
