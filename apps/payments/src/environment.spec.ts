import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from './environment.js';

const DATABASE_URL = 'postgres://localhost/payments';

describe('readEnvironment', () => {
  it('listens on 3000 unless told otherwise', () => {
    expect(readEnvironment({ DATABASE_URL })).toEqual({ databaseUrl: DATABASE_URL, port: 3000 });
    expect(readEnvironment({ DATABASE_URL, PORT: '0' })).toEqual({ databaseUrl: DATABASE_URL, port: 0 });
  });

  it('refuses to start without a database', () => {
    expect(() => readEnvironment({})).toThrow('Set DATABASE_URL');
  });

  it.each(['', 'http', '-1', '30.5', '65536'])('refuses the port %j', (PORT) => {
    expect(() => readEnvironment({ DATABASE_URL, PORT })).toThrow('is not a port');
  });
});
