import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import { flatConfigs as imports } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

const SRC = './libs/idempotency/src';

/** Which layers each layer of the library may import besides itself; packages are listed further down. */
const LAYERS = {
  core: [],
  storage: ['core'],
  http: ['core'],
  messaging: ['core'],
  maintenance: ['core'],
  telemetry: ['core'],
  nest: ['core', 'storage', 'http', 'messaging', 'maintenance', 'telemetry'],
  cli: ['core', 'storage', 'maintenance'],
  testing: ['core', 'storage'],
};

const layerZones = Object.entries(LAYERS).map(([layer, allowed]) => ({
  target: `${SRC}/${layer}`,
  from: SRC,
  except: [layer, ...allowed].map((name) => `./${name}`),
  message: `${layer}/ may import ${allowed.length > 0 ? allowed.map((name) => `${name}/`).join(', ') : 'no other layer'}.`,
}));

/** What a layer must not know of. */
const FOREIGN = {
  core: ['@nestjs/*', 'typeorm', 'pg', 'rxjs', '@opentelemetry/*', 'node:*', '!node:crypto'],
  http: ['@nestjs/*', 'typeorm', 'pg', 'rxjs', '@opentelemetry/*', 'express', 'fastify'],
  storage: ['@nestjs/*', 'rxjs', '@opentelemetry/*', 'node:http'],
  maintenance: ['@nestjs/*', 'typeorm', 'pg', 'rxjs', '@opentelemetry/*'],
  messaging: ['@nestjs/*', 'typeorm', 'pg', 'rxjs', '@opentelemetry/*'],
  telemetry: ['@nestjs/*', 'typeorm', 'pg', 'rxjs'],
  cli: ['@nestjs/*', 'rxjs', '@opentelemetry/*'],
};

const CLOCKS = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: "The time of day is the database's.",
  },
  { selector: "NewExpression[callee.name='Date']", message: "The time of day is the database's." },
];

const NO_SURPRISES = [
  { selector: 'TSEnumDeclaration', message: 'A union of literals instead.' },
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'ExportAllDeclaration', message: 'Name what is exported.' },
  { selector: 'ClassDeclaration[abstract=true]', message: 'A port (interface) instead.' },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist',
      '**/node_modules',
      '**/coverage',
      '.local',
      'test/**/fixture',
      'test/upgrade/previous',
      '**/*.mjs',
    ],
  },
  ...tseslint.configs.recommended,
  imports.recommended,
  imports.typescript,
  {
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver({ project: './tsconfig.json' })] },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // TypeScript resolves names better, and knows types.
      'import-x/named': 'off',
      'import-x/namespace': 'off',
      'import-x/default': 'off',
      'import-x/no-named-as-default': 'off',
      'import-x/no-named-as-default-member': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A `!` says what the author has proved and the compiler cannot see; reviews look at each.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'import-x/no-restricted-paths': [
        'error',
        {
          zones: [
            ...layerZones,
            { target: SRC, from: `${SRC}/index.ts`, message: 'Nothing inside imports the public entry.' },
            { target: './libs', from: ['./apps', './test', './bench'], message: 'The library knows nobody outside.' },
            { target: './apps', from: ['./test', './bench'], message: 'An application knows nobody outside.' },
            {
              target: './apps/psp',
              from: ['./libs', './apps/payments'],
              message: 'A witness shares nothing with those it judges.',
            },
            { target: './apps/payments', from: './apps/psp', message: 'The provider is reached over the wire.' },
          ],
        },
      ],
      'no-restricted-syntax': ['error', ...NO_SURPRISES],
    },
  },
  {
    files: ['apps/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [{ group: ['**/libs/idempotency/src/index.js'], message: "Use the package 'nestjs-idempotency'." }],
        },
      ],
    },
  },
  ...Object.entries(FOREIGN).map(([layer, group]) => ({
    files: [`libs/idempotency/src/${layer}/**/*.ts`],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message: `Not in ${layer}/.` }] }] },
  })),
  {
    files: ['libs/idempotency/src/{core,storage}/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NO_SURPRISES, ...CLOCKS] },
  },
  {
    // A decorated parameter's type is read at run time: it must stay a value.
    files: [
      'apps/**/*.ts',
      'libs/idempotency/src/nest/**/*.ts',
      'libs/idempotency/src/storage/entities/*.ts',
      'test/**/*.ts',
    ],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    // Methods are taken off the response and put back on it: that is the job of this folder.
    files: ['libs/idempotency/src/http/**/*.ts'],
    rules: { '@typescript-eslint/unbound-method': 'off' },
  },
  {
    // Answers are read from the wire: what they are is what the test is about.
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'import-x/no-unresolved': 'off' },
  },
);
