import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ProblemException } from '../problems/problem.exception.js';
import { Settings } from '../settings/settings.js';
import { bearerToken, merchantIdOf } from './api-key.js';
import type { AuthenticatedRequest } from './current-merchant.js';

@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly merchantIds: ReadonlySet<string>;

  constructor({ apiKeys }: Settings) {
    this.merchantIds = new Set(apiKeys.map(merchantIdOf));
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const apiKey = bearerToken(request.headers.authorization);
    const merchantId = apiKey === undefined ? undefined : merchantIdOf(apiKey);
    // Hashes are compared, so how long it takes tells nothing of the keys.
    if (merchantId === undefined || !this.merchantIds.has(merchantId)) {
      http.getResponse<Response>().set('WWW-Authenticate', 'Bearer');
      throw unauthenticated();
    }
    request.merchantId = merchantId;
    return true;
  }
}

const unauthenticated = (): ProblemException =>
  new ProblemException({
    status: 401,
    code: 'unauthenticated',
    title: 'Unauthenticated',
    detail: 'Send a valid API key as `Authorization: Bearer <key>`.',
  });
