import {
  Body,
  Controller,
  Inject,
  Injectable,
  Post,
  Res,
  UnprocessableEntityException,
  type ExecutionContext,
} from '@nestjs/common';
import {
  aes256Gcm,
  IdempotencyContext,
  type IdempotentOperation,
  Idempotent,
  Operation,
  TransactionManager,
} from 'nestjs-idempotency';
import { DataSource, EntityManager } from 'typeorm';
import { type Gate, gate } from '../wire/gate.js';
import { encryptionKey, type SecretName, type Secrets } from './secrets.js';

export const SECRETS = Symbol('secrets');

/** What this file needs of Express' response and of Fastify's reply. */
interface Reply {
  header(name: string, value: string): unknown;
}

/** Where a handler waits for the test. */
@Injectable()
export class Halt {
  arrived: Gate = gate();
  left: Gate = gate();

  async here(): Promise<void> {
    this.arrived.open();
    await this.left.passed;
  }

  again(): void {
    [this.arrived, this.left] = [gate(), gate()];
  }
}

/** Options are fixed when classes are: what they need of the secrets they find here. */
const found: { secrets?: Secrets } = {};

export function confide(secrets: Secrets): void {
  found.secrets = secrets;
}

const tell = (name: SecretName): never => {
  throw new Error(found.secrets![name]);
};

const protect = {
  seal: (...args: Parameters<ReturnType<typeof protection>['seal']>) => protection().seal(...args),
  open: (...args: Parameters<ReturnType<typeof protection>['open']>) => protection().open(...args),
};

function protection() {
  return aes256Gcm({ keys: { first: encryptionKey(found.secrets!) }, current: 'first' });
}

/** Handlers that are given secrets, hold secrets, and fail in every way. */
@Controller('vaults/:vault')
export class ConfidingController {
  constructor(
    @Inject(SECRETS) private readonly secrets: Secrets,
    private readonly halt: Halt,
    private readonly context: IdempotencyContext,
    private readonly dataSource: DataSource,
  ) {}

  @Post('ordinary')
  @Idempotent({ fingerprint: { headers: ['X-Api-Key'] } })
  ordinary(
    @Body('card') card: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ) {
    return this.answer(card, manager, reply);
  }

  @Post('transaction')
  @Idempotent({ claim: 'transaction' })
  transaction(
    @Body('card') card: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ) {
    return this.answer(card, manager, reply);
  }

  private async answer(card: string, manager: EntityManager, reply: Reply): Promise<unknown> {
    await manager.query('INSERT INTO cards (number) VALUES ($1)', [card]);
    reply.header('Set-Cookie', `session=${this.secrets['the Set-Cookie header']}`);
    reply.header('X-Private', this.secrets['a response header that nobody asked to keep']);
    reply.header('Location', `/cards/${this.secrets['the Location header']}`);
    return { token: this.secrets['the body of an answer'] };
  }

  @Post('status-only')
  @Idempotent({ recording: 'status-only' })
  statusOnly(): unknown {
    return { token: this.secrets['a body of which only the status is recorded'] };
  }

  @Post('encrypted')
  @Idempotent({ protect })
  encrypted(): unknown {
    return { token: this.secrets['a body that is encrypted at rest'] };
  }

  @Post('refused')
  @Idempotent()
  refused(): never {
    throw new UnprocessableEntityException(this.secrets['the body of a refusal']);
  }

  @Post('thrown')
  @Idempotent()
  thrown(): never {
    return tell('the message of an error');
  }

  @Post('query-failed')
  @Idempotent()
  queryFailed(@TransactionManager() manager: EntityManager): Promise<unknown> {
    return manager.query('SELECT $1::integer', [this.secrets['a parameter of a statement that failed']]);
  }

  @Post('swallowed')
  @Idempotent()
  async swallowed(@TransactionManager() manager: EntityManager): Promise<unknown> {
    const parameter = this.secrets['a parameter of a statement whose failure was swallowed'];
    await manager.query('SELECT $1::integer', [parameter]).catch(() => undefined);
    return { token: this.secrets['the answer of work that broke its transaction'] };
  }

  @Post('committed-by-itself')
  @Idempotent()
  async committedByItself(@TransactionManager() manager: EntityManager): Promise<unknown> {
    const text = this.secrets['the answer of work that broke its transaction'];
    await manager.query(`COMMIT /* ${text} */`).catch(() => undefined);
    return { token: text };
  }

  @Post('deferred')
  @Idempotent()
  async deferred(@TransactionManager() manager: EntityManager): Promise<unknown> {
    const values = [this.secrets['a value that a constraint refused at the COMMIT']];
    for (const _ of [1, 2]) await manager.query('INSERT INTO holders (name) VALUES ($1)', values);
    return { token: this.secrets['the answer of work whose COMMIT failed'] };
  }

  @Post('after-commit')
  @Idempotent()
  afterCommit(): unknown {
    this.context.afterCommit(() => tell('the message of an error in afterCommit'));
    return {};
  }

  @Post('fingerprinted')
  @Idempotent({ fingerprint: () => tell('the message of an error in a fingerprint function') })
  fingerprinted(): unknown {
    return {};
  }

  @Post('authorized')
  @Idempotent({ authorizeReplay: () => tell('the message of an error in authorizeReplay') })
  authorized(): unknown {
    return {};
  }

  @Post('unsealed')
  @Idempotent({ protect: { seal: () => tell('the message of an error in protect'), open: () => Buffer.of() } })
  unsealed(): unknown {
    return { token: this.secrets['the answer of work that could not be recorded'] };
  }

  @Post('halting')
  @Idempotent()
  async halting(): Promise<unknown> {
    await this.halt.here();
    return { token: this.secrets['the answer of work that lost its claim'] };
  }

  @Post('cut-off')
  @Idempotent()
  cutOff(): unknown {
    return { token: this.secrets['the answer of work whose COMMIT failed'] };
  }

  @Post('step-held')
  @Idempotent({ transaction: 'manual' })
  async stepHeld(@Operation() operation: IdempotentOperation): Promise<never> {
    await operation.step('charge', () => Promise.resolve({ token: this.secrets['the result of a step'] }));
    throw new Error('The rest failed.');
  }

  @Post('step-recorded')
  @Idempotent({ transaction: 'manual' })
  async stepRecorded(@Operation() operation: IdempotentOperation): Promise<unknown> {
    await operation.step('charge', () => Promise.resolve({ token: this.secrets['the result of a step'] }));
    return operation.commit(() => Promise.resolve({}));
  }

  @Post('step-refused')
  @Idempotent({ transaction: 'manual' })
  stepRefused(@Operation() operation: IdempotentOperation): Promise<unknown> {
    const error = new Error(this.secrets['what a provider refused a step with']);
    return operation.step('charge', () => Promise.reject(Object.assign(error, { status: 402 })));
  }

  @Post('step-unknown')
  @Idempotent({ transaction: 'manual' })
  stepUnknown(@Operation() operation: IdempotentOperation): Promise<unknown> {
    const error = new Error(this.secrets['the failure of a step that may have happened']);
    return operation.step('charge', () => Promise.reject(error));
  }

  @Post('stray')
  @Idempotent()
  async stray(): Promise<unknown> {
    const literal = this.secrets['a literal of a stray write'];
    await this.dataSource.query('INSERT INTO cards (number) VALUES ($1)', [
      this.secrets['a parameter of a stray write'],
    ]);
    await this.dataSource.query(`INSERT INTO cards VALUES ('${literal}')`);
    await this.dataSource.query(`INSERT INTO cards VALUES ('it''s ${literal}')`);
    await this.dataSource.query(`INSERT INTO cards VALUES (E'it\\'s ${literal}')`);
    await this.dataSource.query(`INSERT INTO cards VALUES ($$${literal}$$)`);
    await this.dataSource.query(`INSERT INTO cards VALUES ($of$it's $$${literal}$of$)`);
    await this.dataSource.query(`INSERT INTO cards /* it's ${literal} */ VALUES ('')`);
    return {};
  }
}

/** The account that a request was authenticated as. */
export function tenantOf(context: ExecutionContext): string {
  const { headers } = context.switchToHttp().getRequest<{ readonly headers: Readonly<Record<string, string>> }>();
  return headers['x-tenant'] || tell('the message of an error in the tenant resolver');
}
