import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { JSDOM, VirtualConsole } from 'jsdom';

const FETCH = readFileSync(createRequire(import.meta.url).resolve('whatwg-fetch/dist/fetch.umd.js'), 'utf8');
const POST_ONCE = readFileSync(join(import.meta.dirname, 'post-once.js'), 'utf8').replace(/^export /m, '');

/** Something that a page waits for by a timer. */
export interface Wait {
  readonly ms: number;
  resume(): void;
}

/** An answer as far as a page may read it. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/**
 * A page at `https://shop.example`, in a browser that keeps to CORS, with `postOnce()` in it.
 *
 * jsdom has preflights, and shows no header that is not exposed, but it has no `fetch()`: what stands in for it is
 * written on the XMLHttpRequest it has.
 */
export class Page {
  /** What the page waits for now: the test is its clock. */
  readonly waits: Wait[] = [];
  /** What the browser wrote on its console, such as why it refused a request. */
  readonly complaints: string[] = [];
  private readonly dom: JSDOM;

  constructor() {
    const virtualConsole = new VirtualConsole().on('jsdomError', ({ message }) => this.complaints.push(message));
    this.dom = new JSDOM('', { url: 'https://shop.example/', runScripts: 'outside-only', virtualConsole });
    const { window } = this.dom;
    const setTimeout = window.setTimeout.bind(window);
    Object.assign(window, {
      setTimeout: (resume: () => void, ms = 0) => (ms === 0 ? setTimeout(resume) : this.waits.push({ ms, resume })),
    });
    window.eval(FETCH);
    window.eval(POST_ONCE);
  }

  /** Calls the function of the documentation. */
  postOnce(url: string, body: object, key: string): Promise<PageAnswer> {
    return this.call('postOnce', url, body, key);
  }

  fetch(url: string, request: object): Promise<PageAnswer> {
    return this.call('fetch', url, request);
  }

  close(): void {
    this.dom.window.close();
  }

  private call(name: string, ...args: unknown[]): Promise<PageAnswer> {
    return this.dom.window.eval(`${name}(...${JSON.stringify(args)})`) as Promise<PageAnswer>;
  }
}
