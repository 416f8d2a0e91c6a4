import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Body, Controller, Post, Res } from '@nestjs/common';
import { type Response } from 'express';
import { Idempotent } from 'nestjs-idempotency';
import { Ledger } from './ledger.js';
import { BINARY, OVERSIZED, PAYMENT, failingStreamOf, streamOf } from './payloads.js';

const FILE = join(import.meta.dirname, 'payload.txt');

/** Every way in which a handler can write Express' response itself. */
@Controller('written')
export class ExpressAnswersController {
  constructor(private readonly ledger: Ledger) {}

  @Post('passthrough')
  @Idempotent()
  async passthrough(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.status(202).set('Location', '/payments/42').cookie('seen', 'secret-cookie').append('Link', '</a>; rel="a"');
    res.append('Link', '</b>; rel="b"');
    return PAYMENT;
  }

  @Post('passthrough-refusal')
  @Idempotent()
  async passthroughRefusal(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.status(404);
    return { found: false };
  }

  @Post('passthrough-failure')
  @Idempotent()
  async passthroughFailure(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.status(503);
    return { up: false };
  }

  @Post('invalid-header')
  @Idempotent()
  async invalidHeader(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.setHeader('X-Text', '世界');
    return PAYMENT;
  }

  @Post('invalid-status')
  @Idempotent()
  async invalidStatus(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.statusCode = 99;
    return PAYMENT;
  }

  @Post('invalid-reason')
  @Idempotent()
  async invalidReason(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.statusMessage = 'two\nlines';
    return PAYMENT;
  }

  @Post('reason')
  @Idempotent()
  async reason(@Body('run') run: string, @Res({ passthrough: true }) res: Response): Promise<unknown> {
    await this.ledger.write(run);
    res.statusMessage = 'Paid At Last';
    return PAYMENT;
  }

  @Post('at-once')
  @Idempotent()
  atOnce(@Body('run') run: string, @Res() res: Response): void {
    void this.ledger.write(run);
    res.status(201).json(PAYMENT);
  }

  @Post('awaited')
  @Idempotent()
  async awaited(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.type('html').send('<p>done</p>');
  }

  @Post('returned')
  @Idempotent()
  async returned(@Body('run') run: string, @Res() res: Response): Promise<unknown> {
    await this.ledger.write(run);
    return res.status(200).json(PAYMENT);
  }

  @Post('in-the-next-turn')
  @Idempotent()
  async inTheNextTurn(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    setImmediate(() => res.json({ late: true }));
  }

  @Post('late')
  @Idempotent()
  async late(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    setTimeout(() => res.status(203).json({ late: true }), 5);
  }

  @Post('late-in-pieces')
  @Idempotent()
  async lateInPieces(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    setImmediate(() => {
      res.write('one,');
      setImmediate(() => {
        res.write('two,');
        setImmediate(() => res.end('three'));
      });
    });
  }

  @Post('piped')
  @Idempotent()
  async piped(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    streamOf('first,', 'second').pipe(res.type('text/csv'));
  }

  @Post('pipeline')
  @Idempotent()
  async pipeline(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    await pipeline(streamOf('first,', 'second'), res.type('text/csv'));
  }

  @Post('pipeline-failing')
  @Idempotent()
  async pipelineFailing(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    await pipeline(failingStreamOf('half,'), res.type('text/csv'));
  }

  @Post('oversized-pipeline')
  @Idempotent()
  async oversizedPipeline(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    const pieces = Array.from({ length: 5 }, (_, piece) => OVERSIZED.subarray(piece * 65_536, (piece + 1) * 65_536));
    await pipeline(streamOf(...pieces), res.type('application/x-binary'));
  }

  @Post('send-file')
  @Idempotent()
  async sendFile(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.sendFile(FILE);
  }

  @Post('send-no-file')
  @Idempotent()
  async sendNoFile(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.sendFile(`${FILE}.missing`, (error) => {
      if (error) res.status(404).json({ file: 'missing' });
    });
  }

  @Post('download')
  @Idempotent()
  async download(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.download(FILE, 'receipt.txt');
  }

  @Post('redirected')
  @Idempotent()
  async redirected(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.redirect(303, '/payments/42');
  }

  @Post('status-only')
  @Idempotent()
  async statusOnly(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.sendStatus(202);
  }

  @Post('ended-empty')
  @Idempotent()
  async endedEmpty(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.status(204).end();
  }

  @Post('in-latin-1')
  @Idempotent()
  async inLatin1(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.setHeader('Content-Type', 'text/plain; charset=latin1');
    res.write('Grüße ', 'latin1');
    res.write('776f726c64', 'hex');
    res.end(' ü', 'latin1');
  }

  @Post('reused-buffer')
  @Idempotent()
  async reusedBuffer(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    const buffer = Buffer.from('first,');
    await new Promise((resolve) => res.write(buffer, resolve));
    buffer.write('secnd,');
    await new Promise((resolve) => res.write(buffer, resolve));
    res.end();
  }

  @Post('head-and-object')
  @Idempotent()
  async headAndObject(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.writeHead(202, { 'Content-Type': 'text/plain', 'Content-Length': 4, ETag: '"w"' });
    res.end('done');
  }

  @Post('head-and-reason')
  @Idempotent()
  async headAndReason(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.writeHead(200, 'Quite Fine', { 'Content-Type': 'text/plain', 'x-MiXed': 'Case' });
    res.write('do');
    res.end('ne');
  }

  @Post('head-and-list')
  @Idempotent()
  async headAndList(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.writeHead(200, ['Content-Type', 'text/plain', 'Link', '</a>; rel="a"', 'ETag', '"w"']);
    res.end('done');
  }

  @Post('head-set-before')
  @Idempotent()
  async headSetBefore(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.setHeader('Content-Type', 'text/html');
    res.setHeader('Link', ['</a>; rel="a"', '</b>; rel="b"']);
    res.writeHead(200, { 'content-type': 'text/plain' });
    res.end(BINARY.toString('latin1'));
  }

  @Post('flushed-head')
  @Idempotent()
  async flushedHead(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.type('txt').flushHeaders();
    res.end('done');
  }

  @Post('written-twice')
  @Idempotent()
  async writtenTwice(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.json(PAYMENT);
    if (!res.headersSent) throw new Error('Nothing was sent.');
    res.end();
  }

  @Post('write-after-end')
  @Idempotent()
  async writeAfterEnd(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.on('error', () => undefined);
    res.end('done');
    res.write('too late');
    res.end('much too late');
  }

  @Post('header-after-end')
  @Idempotent()
  async headerAfterEnd(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.json(PAYMENT);
    try {
      res.setHeader('X-Late', 'yes');
    } catch {
      // As Node has it.
    }
  }

  @Post('thrown-after-answer')
  @Idempotent()
  async thrownAfterAnswer(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.json(PAYMENT);
    throw new Error('The answer was given already.');
  }

  @Post('thrown-after-a-part')
  @Idempotent()
  async thrownAfterAPart(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.write('a part');
    throw new Error('There is no rest.');
  }

  @Post('thrown-before-answer')
  @Idempotent()
  async thrownBeforeAnswer(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.setHeader('X-Half', 'done');
    throw new Error('Nothing was written.');
  }

  @Post('destroyed')
  @Idempotent()
  async destroyed(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.destroy();
  }

  @Post('trailers')
  @Idempotent()
  async trailers(@Body('run') run: string, @Res() res: Response): Promise<void> {
    await this.ledger.write(run);
    res.writeHead(200, { Trailer: 'X-Sum', 'Content-Type': 'text/plain' });
    res.write('done');
    res.addTrailers({ 'X-Sum': '4' });
    res.end();
  }
}
