import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';

import { useDatabase } from '../wire/database.js';
import { eventually } from '../wire/gate.js';
import { PAYMENT } from '../wire/payloads.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { allowBrowsers, allowBrowsersAndMore } from './allow-browsers.js';
import { Page } from './page.js';
import { openShop, type Shop } from './shop.js';

const database = useDatabase();

const requestOf = (run: string, headers: object = {}) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': run, ...headers },
  body: JSON.stringify({ run }),
});

describe.each(PLATFORMS)('a page of another origin than its shop on %s', (platform) => {
  let page: Page;
  let run: string;

  beforeEach(() => {
    page = new Page();
    run = randomUUID();
  });

  afterEach(() => page.close());

  /** Opens a shop for the tests of a group. */
  function useShop(configure: (app: INestApplication) => void): { readonly shop: Shop } {
    let shop: Shop;
    beforeAll(async () => {
      shop = await openShop(platform, database.url, configure);
    });
    afterAll(() => shop?.close());
    return {
      get shop() {
        return shop;
      },
    };
  }

  describe('that allows browsers as the documentation says', () => {
    const here = useShop(allowBrowsers);

    it('pays once however often it asks, and can tell a replay', async () => {
      here.shop.ledger.letGo(run);
      const first = await page.postOnce(here.shop.url, { run }, run);
      const second = await page.postOnce(here.shop.url, { run }, run);
      expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([202, null]);
      expect([second.status, second.headers.get('Idempotent-Replayed')]).toEqual([202, 'true']);
      expect(await second.text()).toBe(await first.text());
      expect(await database.witness.rowsOf(run)).toBe(1);
      expect(page.waits).toEqual([]);
    });

    it('reads from a refusal how long to wait', async () => {
      const first = page.fetch(here.shop.url, requestOf(run));
      await here.shop.ledger.arrived(run);
      const refusal = await page.fetch(here.shop.url, requestOf(run));
      here.shop.ledger.letGo(run);
      expect([refusal.status, refusal.headers.get('Retry-After')]).toEqual([409, '60']);
      expect((await first).status).toBe(202);
    });

    it('waits as long as it is told while its first request runs, and gets the answer of that', async () => {
      const first = page.fetch(here.shop.url, requestOf(run));
      await here.shop.ledger.arrived(run);
      const second = page.postOnce(here.shop.url, { run }, run);
      const wait = await eventually('the page waits', () => page.waits.shift());
      expect(wait.ms).toBe(60_000);
      here.shop.ledger.letGo(run);
      await first;
      wait.resume();
      const { status, headers } = await second;
      expect([status, headers.get('Idempotent-Replayed')]).toEqual([202, 'true']);
      expect(await database.witness.rowsOf(run)).toBe(1);
    });

    it('finds out by the same key what became of a request whose connection broke', async () => {
      const answering = page.postOnce(here.shop.url, { run }, run);
      await here.shop.ledger.arrived(run);
      here.shop.hangUp();
      const wait = await eventually('the page waits', () => page.waits.shift());
      expect(wait.ms).toBe(2_000);
      here.shop.ledger.letGo(run);
      await eventually('the work is recorded', async () => {
        return (await database.witness.recordOf(run))?.state === 'completed';
      });
      wait.resume();
      const answer = await answering;
      expect([answer.status, answer.headers.get('Idempotent-Replayed')]).toEqual([202, 'true']);
      expect(JSON.parse(await answer.text())).toEqual(PAYMENT);
      expect(await database.witness.rowsOf(run)).toBe(1);
    });
  });

  describe('that has lists of its own', () => {
    const here = useShop((app) => {
      allowBrowsersAndMore(app);
      app.use((_: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
        response.setHeader('X-Request-Id', 'request-1');
        next();
      });
    });

    it('sends and reads what stands in them, besides the key and the mark of a replay', async () => {
      here.shop.ledger.letGo(run);
      await page.fetch(here.shop.url, requestOf(run));
      const { status, headers } = await page.fetch(here.shop.url, requestOf(run, { Authorization: 'Bearer abc' }));
      expect([status, headers.get('Idempotent-Replayed'), headers.get('X-Request-Id')]).toEqual([
        202,
        'true',
        'request-1',
      ]);
    });
  });

  describe('that does not expose the headers', () => {
    const here = useShop((app) => app.enableCors({ origin: 'https://shop.example' }));

    it('gets a replay and cannot tell', async () => {
      here.shop.ledger.letGo(run);
      await page.fetch(here.shop.url, requestOf(run));
      const { status, headers } = await page.fetch(here.shop.url, requestOf(run));
      expect([status, headers.get('Idempotent-Replayed')]).toEqual([202, null]);
      expect(await database.witness.rowsOf(run)).toBe(1);
    });

    it('is not told how long to wait', async () => {
      const first = page.fetch(here.shop.url, requestOf(run));
      await here.shop.ledger.arrived(run);
      const { status, headers } = await page.fetch(here.shop.url, requestOf(run));
      here.shop.ledger.letGo(run);
      expect([status, headers.get('Retry-After')]).toEqual([409, null]);
      await first;
    });
  });

  describe('that has a list without the key header', () => {
    const here = useShop((app) => app.enableCors({ origin: 'https://shop.example', allowedHeaders: ['Content-Type'] }));

    it('is refused by its browser, and nothing is paid', async () => {
      here.shop.ledger.letGo(run);
      await expect(page.fetch(here.shop.url, requestOf(run))).rejects.toThrow('Network request failed');
      expect(page.complaints).toEqual(['Headers Idempotency-Key forbidden']);
      expect(await database.witness.rowsOf(run)).toBe(0);
    });
  });
});
