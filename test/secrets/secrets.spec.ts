import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { PLATFORMS, prepareDatabase, startConfidingApp } from './confiding-app.js';
import { Evidence } from './evidence.js';
import { Life } from './life.js';
import { Output } from './output.js';
import { freshSecrets, MAY_STAND, SECRET_NAMES } from './secrets.js';

jest.setTimeout(60_000);

describe.each(PLATFORMS)('when everything has happened, on %s', (platform) => {
  const secrets = freshSecrets();
  const evidence = new Evidence(secrets);
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    const witness = new Client(database.url);
    await witness.connect();
    const proxy = await DatabaseProxy.to(database.url);
    // A role of its own, so that the password counts wherever the database asks for one.
    const url = new URL(proxy.url);
    url.username = `confiding_${randomUUID().replaceAll('-', '')}`;
    url.password = secrets['the password of the database'];
    await witness.query(`CREATE ROLE ${url.username} LOGIN SUPERUSER PASSWORD '${url.password}'`);
    const output = Output.listen();
    try {
      const app = await startConfidingApp(platform, url.href, secrets);
      await new Life(app, secrets, evidence, witness, proxy).live();
      await app.close();
    } finally {
      output.stop();
      await proxy.close();
      await witness.query(`DROP ROLE ${url.username}`);
      await witness.end();
    }
    // Or nobody has listened.
    expect(output.text).toContain('Nest application successfully started');
    // What is told of a commit that failed does not hold the rows that it failed for.
    expect(output.text).toContain('The work of POST /vaults/:vault/deferred could not be committed');
    evidence.addOutput(output);
  });

  afterAll(() => database?.drop());

  it.each(SECRET_NAMES)('%s stands where it has to, and nowhere else', (name) => {
    expect(evidence.placesOf(name)).toEqual([...MAY_STAND[name]].sort());
  });
});
