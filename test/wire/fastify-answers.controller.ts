import { pipeline } from 'node:stream/promises';
import { Body, Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { Idempotent } from 'nestjs-idempotency';
import { Ledger } from './ledger.js';
import { BINARY, OVERSIZED, PAYMENT, failingStreamOf, streamOf } from './payloads.js';

/** Every way in which a handler can use Fastify's reply itself. */
@Controller('written')
export class FastifyAnswersController {
  constructor(private readonly ledger: Ledger) {}

  @Post('passthrough')
  @Idempotent()
  async passthrough(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    reply.status(202).header('Location', '/payments/42').header('Set-Cookie', 'seen=secret-cookie');
    reply.header('Link', ['</a>; rel="a"', '</b>; rel="b"']);
    return PAYMENT;
  }

  @Post('passthrough-refusal')
  @Idempotent()
  async passthroughRefusal(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply) {
    await this.ledger.write(run);
    reply.status(404);
    return { found: false };
  }

  @Post('passthrough-failure')
  @Idempotent()
  async passthroughFailure(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply) {
    await this.ledger.write(run);
    reply.status(503);
    return { up: false };
  }

  @Post('invalid-header')
  @Idempotent()
  async invalidHeader(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    reply.header('X-Text', '世界');
    return PAYMENT;
  }

  @Post('invalid-status')
  @Idempotent()
  async invalidStatus(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    reply.code(99);
    return PAYMENT;
  }

  @Post('raw-header')
  @Idempotent()
  async rawHeader(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    reply.raw.setHeader('X-Raw', 'yes');
    reply.raw.setHeader('Location', '/payments/42');
    return PAYMENT;
  }

  @Post('stream')
  @Idempotent()
  async stream(@Body('run') run: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    reply.type('text/csv');
    return streamOf('first,', 'second');
  }

  @Post('at-once')
  @Idempotent()
  atOnce(@Body('run') run: string, @Res() reply: FastifyReply): void {
    void this.ledger.write(run);
    void reply.status(201).send(PAYMENT);
  }

  @Post('awaited')
  @Idempotent()
  async awaited(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    await reply.type('text/html').send('<p>done</p>');
  }

  @Post('not-awaited')
  @Idempotent()
  async notAwaited(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    void reply.send(BINARY);
  }

  @Post('returned')
  @Idempotent()
  async returned(@Body('run') run: string, @Res() reply: FastifyReply): Promise<unknown> {
    await this.ledger.write(run);
    return reply.status(200).send(PAYMENT);
  }

  @Post('in-the-next-turn')
  @Idempotent()
  async inTheNextTurn(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    setImmediate(() => void reply.send({ late: true }));
  }

  @Post('late')
  @Idempotent()
  async late(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    setTimeout(() => void reply.status(203).send({ late: true }), 5);
  }

  @Post('piped')
  @Idempotent()
  async piped(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    void reply.type('text/csv').send(streamOf('first,', 'second'));
  }

  @Post('piped-failing-half-way')
  @Idempotent()
  async pipedFailingHalfWay(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    void reply.type('text/csv').send(failingStreamOf('half,'));
  }

  @Post('oversized-stream')
  @Idempotent()
  async oversizedStream(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    const pieces = Array.from({ length: 5 }, (_, piece) => OVERSIZED.subarray(piece * 65_536, (piece + 1) * 65_536));
    void reply.type('application/x-binary').send(streamOf(...pieces));
  }

  @Post('hijacked-pipeline')
  @Idempotent()
  async hijackedPipeline(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.hijack();
    reply.raw.setHeader('Content-Type', 'text/csv');
    await pipeline(streamOf('first,', 'second'), reply.raw);
  }

  @Post('hijacked-head')
  @Idempotent()
  async hijackedHead(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.hijack();
    reply.raw.writeHead(202, 'Quite Fine', { 'Content-Type': 'text/plain', Location: '/payments/42' });
    reply.raw.write('do');
    reply.raw.end('ne');
  }

  @Post('hijacked-late')
  @Idempotent()
  async hijackedLate(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.hijack();
    setImmediate(() => reply.raw.end('late'));
  }

  @Post('raw-end')
  @Idempotent()
  async rawEnd(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.raw.statusCode = 202;
    reply.raw.end('done');
  }

  @Post('redirected')
  @Idempotent()
  async redirected(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    void reply.redirect('/payments/42', 303);
  }

  @Post('ended-empty')
  @Idempotent()
  async endedEmpty(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    await reply.status(204).send();
  }

  @Post('written-twice')
  @Idempotent()
  async writtenTwice(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    await reply.send(PAYMENT);
    if (!reply.sent) throw new Error('Nothing was sent.');
    void reply.send({ second: true });
  }

  @Post('thrown-after-a-part')
  @Idempotent()
  async thrownAfterAPart(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.raw.write('a part');
    throw new Error('There is no rest.');
  }

  @Post('thrown-before-answer')
  @Idempotent()
  async thrownBeforeAnswer(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.header('X-Half', 'done');
    throw new Error('Nothing was written.');
  }

  @Post('destroyed')
  @Idempotent()
  async destroyed(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.raw.destroy();
  }

  @Post('trailers')
  @Idempotent()
  async trailers(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    reply.trailer('X-Sum', (_reply, _payload, done) => done(null, '4'));
    void reply.send('done');
  }

  @Post('thrown-after-answer')
  @Idempotent()
  async thrownAfterAnswer(@Body('run') run: string, @Res() reply: FastifyReply): Promise<void> {
    await this.ledger.write(run);
    await reply.send(PAYMENT);
    throw new Error('The answer was given already.');
  }
}
