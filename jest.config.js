const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

/** One run of specs; by default of the whole suite, but for what needs message brokers. */
const project = (displayName, overrides = {}) => ({
  displayName,
  testEnvironment: 'node',
  testMatch: ['<rootDir>/libs/*/src/**/*.spec.ts', '<rootDir>/apps/*/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/test/brokers/'],
  modulePathIgnorePatterns: ['/dist/'],
  ...overrides,
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-idempotency$': '<rootDir>/libs/idempotency/src/index.ts',
    ...overrides.moduleNameMapper,
  },
});

export default {
  coverageProvider: 'v8',
  maxWorkers: 2,
  projects: [
    project('typeorm-1'),
    project('typeorm-0.3', {
      testMatch: ['<rootDir>/test/typeorm/**/*.spec.ts'],
      moduleNameMapper: { '^typeorm$': 'typeorm-0.3' },
    }),
    // By `npm run test:brokers`.
    project('brokers', {
      testMatch: ['<rootDir>/test/brokers/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '/dist/'],
    }),
  ],
};
