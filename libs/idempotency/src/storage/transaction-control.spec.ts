import { describe, expect, it } from '@jest/globals';

import { controlsTransaction } from './transaction-control.js';

describe('controlsTransaction', () => {
  it.each([
    'COMMIT',
    'commit',
    '  \n commit ;',
    'COMMIT AND CHAIN',
    'END',
    'ROLLBACK',
    'rollback work',
    'ABORT',
    'BEGIN',
    'START TRANSACTION ISOLATION LEVEL SERIALIZABLE',
    "PREPARE TRANSACTION 'x'",
    "COMMIT PREPARED 'x'",
    'SELECT 1; COMMIT',
    "INSERT INTO t VALUES (';'); rollback; SELECT 1",
    '/* harmless */ COMMIT',
    '-- harmless\nCOMMIT',
    'SELECT $$ ; $$; COMMIT',
    'SELECT $a$ $$ $a$; COMMIT',
    "SELECT 'it''s'; COMMIT",
    "SELECT E'\\''; COMMIT; --'",
    "SELECT e'\\\\'; COMMIT",
    'SELECT 1 AS "a""b"; COMMIT',
    "SELECT 1 -- it's\n; COMMIT",
    'SELECT a$b; COMMIT; SELECT c$b',
    '-- harmless\rCOMMIT',
    'SELECT é$b$; COMMIT; SELECT $b$',
    '/* a /* nested */ comment */ COMMIT',
  ])('sees %j', (text) => {
    expect(controlsTransaction(text)).toBe(true);
  });

  it.each([
    'SELECT 1',
    'SAVEPOINT a',
    'RELEASE SAVEPOINT a',
    'ROLLBACK TO SAVEPOINT a',
    'rollback to a',
    'ROLLBACK WORK TO SAVEPOINT a',
    'ROLLBACK TRANSACTION TO a',
    "SELECT 'x; COMMIT'",
    "SELECT E'\\'; COMMIT'",
    "SELECT 'it''s; COMMIT'",
    'SELECT "a""; COMMIT"',
    '/* /* */ ; COMMIT */ SELECT 1',
    'SELECT "a; COMMIT"',
    'DO $$ BEGIN PERFORM 1; END $$',
    'DO $body$ BEGIN PERFORM 1; END; $body$',
    '-- ; COMMIT\nSELECT 1',
    '/* ; COMMIT; */ SELECT 1',
    'UPDATE commits SET "end" = 1',
    'INSERT INTO rollback_log VALUES (1)',
    'PREPARE plan AS SELECT 1',
    'SELECT CASE WHEN true THEN 1 END',
  ])('lets %j pass', (text) => {
    expect(controlsTransaction(text)).toBe(false);
  });
});
