import type { IncomingMessage } from 'node:http';
import {
  All,
  Body,
  Controller,
  type ExecutionContext,
  Get,
  GoneException,
  Header,
  HttpCode,
  Post,
  Put,
  Redirect,
  Render,
  Req,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { type ErrorRule, IdempotencyContext, Idempotent, TransactionManager } from 'nestjs-idempotency';
import { DataSource, EntityManager } from 'typeorm';
import { perform, type Reply, scriptFor } from './script.js';
import { InnerInterceptor, Run, ScriptedPipe } from './surroundings.js';

/** A request as Express has it, or as Fastify wraps it. */
type Upload = IncomingMessage | { readonly raw: IncomingMessage };

/** An error that brings along what is to become of it. */
export interface Ruled {
  readonly rule: ErrorRule;
}

const ruleOfError: ErrorRule = (error, status) => (error as Partial<Ruled> | null)?.rule?.(error, status);

function keyInBody(context: ExecutionContext): string | undefined {
  const { body } = context.switchToHttp().getRequest<{ body: { id?: string } }>();
  if (body.id === 'gone') throw new GoneException();
  return body.id;
}

/** The content of a body that nobody has parsed. */
async function contentOf(upload: Upload): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of 'raw' in upload ? upload.raw : upload) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** One route for each way in which a handler can be declared. */
@Controller()
export class Routes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly context: IdempotencyContext,
  ) {}

  @Post('plain')
  @Idempotent()
  plain(@Run() run: string, @TransactionManager() manager: EntityManager, @Body() body: Record<string, unknown>) {
    return perform(run, manager, { body });
  }

  @Put('plain')
  @Idempotent()
  replace(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('other')
  @Idempotent()
  other(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('items/:id')
  @Idempotent()
  item(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('optional')
  @Idempotent({ required: false })
  optional(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('undecorated')
  undecorated(@Run() run: string) {
    return perform(run, this.dataSource.manager);
  }

  @All('any')
  @Idempotent()
  any(@Run() run: string) {
    return perform(run, this.context.isActive ? this.context.manager : this.dataSource.manager);
  }

  @Post('keyed')
  @Idempotent({ key: keyInBody })
  keyed(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('keyed-optional')
  @Idempotent({ key: keyInBody, required: false })
  keyedOptional(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('piped')
  @Idempotent()
  piped(@Run(ScriptedPipe) run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('inner')
  @UseInterceptors(InnerInterceptor)
  @Idempotent()
  inner(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('passthrough')
  @Idempotent({ replayHeaders: ['X-Receipt'] })
  passthrough(
    @Run() run: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ) {
    return perform(run, manager, { reply });
  }

  @Post('own-response')
  @Idempotent()
  async ownResponse(@Run() run: string, @TransactionManager() manager: EntityManager, @Res() reply: Reply) {
    await perform(run, manager, { reply, ownReply: reply });
  }

  @Post('no-content')
  @HttpCode(204)
  @Idempotent()
  async noContent(@Run() run: string, @TransactionManager() manager: EntityManager) {
    await perform(run, manager);
  }

  @Post('reset-content')
  @HttpCode(205)
  @Idempotent()
  async resetContent(@Run() run: string, @TransactionManager() manager: EntityManager) {
    await perform(run, manager);
  }

  @Post('redirect')
  @Redirect('/payments/1', 303)
  @Idempotent()
  async redirect(@Run() run: string, @TransactionManager() manager: EntityManager) {
    await perform(run, manager);
  }

  @Post('rendered')
  @Render('missing')
  @Idempotent()
  rendered(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('declared')
  @Header('Cache-Control', 'max-age=60')
  @Idempotent()
  declared(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('patient')
  @Idempotent({ patience: '1h' })
  patient(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('impatient')
  @Idempotent({ patienceMs: 1 })
  impatient(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('retrying')
  @Idempotent({ conflictRetries: 2 })
  retrying(@Run() run: string, @TransactionManager() manager: EntityManager, @Res({ passthrough: true }) reply: Reply) {
    return perform(run, manager, { reply });
  }

  @Post('ruled')
  @Idempotent({ errors: ruleOfError })
  ruled(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('status-only')
  @Idempotent({ recording: 'status-only' })
  statusOnly(
    @Run() run: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ) {
    return perform(run, manager, { reply });
  }

  @Post('late-value')
  @Idempotent({ lateAnswer: 'value' })
  lateValue(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('timed')
  @Idempotent({ lease: '2m', retentionMs: 259_200_000 })
  timed(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('forgotten')
  @Idempotent({ tombstonesMs: 0 })
  forgotten(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('versioned')
  @Idempotent({ fingerprint: { headers: ['X-Api-Version'] } })
  versioned(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('picking')
  @Idempotent({ fingerprint: { pick: ['/amount', '/to/account'] } })
  picking(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('omitting')
  @Idempotent({ fingerprint: { omit: ['/requestedAt', '/to/traceId'] } })
  omitting(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('signed')
  @Idempotent({ fingerprint: { body: 'raw' } })
  signed(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('asking')
  @Idempotent({ fingerprint: (context) => scriptFor(context).asked!(context) })
  asking(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('uploads')
  @Idempotent()
  async upload(@Run() run: string, @TransactionManager() manager: EntityManager, @Req() upload: Upload) {
    return perform(run, manager, { body: { content: await contentOf(upload) } });
  }

  @Post('asking-uploads')
  @Idempotent({ fingerprint: (context) => scriptFor(context).asked!(context) })
  async askingUpload(@Run() run: string, @TransactionManager() manager: EntityManager, @Req() upload: Upload) {
    return perform(run, manager, { body: { content: await contentOf(upload) } });
  }

  @Post('transaction')
  @Idempotent({ claim: 'transaction' })
  transaction(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('patient-transaction')
  @Idempotent({ claim: 'transaction', patience: '1h' })
  patientTransaction(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('serializable')
  @Idempotent({ claim: 'transaction', isolation: 'SERIALIZABLE' })
  serializable(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('serializable-retrying')
  @Idempotent({ claim: 'transaction', isolation: 'SERIALIZABLE', conflictRetries: 1 })
  serializableRetrying(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('named')
  @Idempotent({ endpoint: 'pay' })
  named(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('moved')
  @Idempotent({ endpoint: 'pay' })
  moved(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }

  @Post('authorized')
  @Idempotent({ authorizeReplay: (context, record) => scriptFor(context).authorizeReplay!(record) })
  authorized(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }
}

@Controller('whole-class')
@Idempotent()
export class WholeClass {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  look(@Run() run: string) {
    return perform(run, this.dataSource.manager);
  }

  @Post()
  change(@Run() run: string, @TransactionManager() manager: EntityManager) {
    return perform(run, manager);
  }
}
