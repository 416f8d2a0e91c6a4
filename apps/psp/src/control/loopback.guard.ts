import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ProblemException } from '../problems/problem.exception.js';
import { isLoopback } from './loopback.js';

/** Whoever commands failures sits at this machine. */
@Injectable()
export class LoopbackGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { socket } = context.switchToHttp().getRequest<Request>();
    if (!isLoopback(socket.remoteAddress)) throw controlIsLocal();
    return true;
  }
}

const controlIsLocal = (): ProblemException =>
  new ProblemException({
    status: 403,
    code: 'control_is_local',
    title: 'Control is local',
    detail: 'Failures are commanded from the machine that the provider runs on.',
  });
