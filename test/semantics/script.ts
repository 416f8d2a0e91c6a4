import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { ReplayedRecord } from 'nestjs-idempotency';
import type { Observable } from 'rxjs';
import type { EntityManager } from 'typeorm';

/** What the response is to a handler on either platform. */
export interface Reply {
  status(code: number): this;
  header(name: string, value: string | string[]): this;
  send(body?: unknown): unknown;
  /** Node's response, where this is Fastify's. */
  readonly raw?: ServerResponse;
}

/** What a handler finds when it has paid. */
export interface Scene {
  readonly run: string;
  /** The how manieth handler of this run it is, from 1. */
  readonly entry: number;
  readonly manager: EntityManager;
  /** The answer of a handler that is told nothing. */
  readonly paid: { readonly paid: string; readonly entry: number };
  /** Only where the route asked for it. */
  readonly reply: Reply;
  /** The same, where the handler has to write the answer itself. */
  readonly ownReply?: Reply;
  readonly body: Record<string, unknown>;
}

/** What those around a handler do in one run; where nothing is said, they let everything pass. */
export interface Script {
  /** The rest of the handler, once it has paid. */
  handler?: (scene: Scene) => unknown;
  guard?: (context: ExecutionContext) => boolean;
  tenant?: () => string | null | undefined | Promise<string>;
  /** Runs before the handler is entered. */
  pipe?: () => unknown;
  /** Stands between the library and the handler. */
  inner?: (next: CallHandler, manager: EntityManager) => Observable<unknown>;
  /** Stands outside the library. */
  outer?: (next: CallHandler) => Observable<unknown>;
  /** Says what was asked, where the endpoint asks a function. */
  asked?: (context: ExecutionContext) => unknown;
  authorizeReplay?: (record: ReplayedRecord) => boolean | Promise<boolean>;
  /** How often a handler was entered. */
  entries: number;
  /** How many of the run's requests have come as far as the guards. */
  arrivals: number;
  /** How many of their responses are closed, by whichever side. */
  closings: number;
}

const scripts = new Map<string, Script>();

/** The header that tells the application which run a request belongs to. */
export const RUN_HEADER = 'x-run';

/** The script of a run, which is there from the moment it is asked for. */
export function scriptOf(run: string): Script {
  const known = scripts.get(run);
  if (known) return known;
  const script: Script = { entries: 0, arrivals: 0, closings: 0 };
  scripts.set(run, script);
  return script;
}

export function runOf(context: ExecutionContext): string {
  const { headers } = context.switchToHttp().getRequest<IncomingMessage>();
  return String(headers[RUN_HEADER]);
}

/** The script that belongs to a request. */
export function scriptFor(context: ExecutionContext): Script {
  return scriptOf(runOf(context));
}

/** Node's response under that of either platform. */
export function rawOf(reply: Reply): ServerResponse {
  return reply.raw ?? (reply as unknown as ServerResponse);
}

/** Pays, and does what the run's script says. */
export async function perform(run: string, manager: EntityManager, given: Partial<Scene> = {}): Promise<unknown> {
  const script = scriptOf(run);
  const entry = ++script.entries;
  await pay(manager, run);
  const paid = { paid: run, entry };
  return script.handler ? script.handler({ run, entry, manager, paid, ...given } as Scene) : paid;
}

/** Writes one row into the business table. */
export async function pay(manager: EntityManager, run: string): Promise<void> {
  await manager.query('INSERT INTO payments (run) VALUES ($1)', [run]);
}
