import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { ProblemException } from '../problems/problem.exception.js';
import { bearerToken, hashApiKey } from './api-key.js';
import type { AuthenticatedRequest } from './current-merchant.decorator.js';
import { Merchant } from './merchant.entity.js';

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly dataSource: DataSource) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const merchant = await this.authenticate(request.headers.authorization);
    if (!merchant) {
      http.getResponse<Response>().set('WWW-Authenticate', 'Bearer');
      throw new ProblemException({
        status: 401,
        code: 'unauthenticated',
        title: 'Unauthenticated',
        detail: 'Send a valid API key as `Authorization: Bearer <key>`.',
      });
    }
    request.merchant = merchant;
    return true;
  }

  private async authenticate(authorization: string | undefined): Promise<Merchant | null> {
    const apiKey = bearerToken(authorization);
    if (!apiKey) return null;
    return this.dataSource.manager.findOneBy(Merchant, { apiKeySha256: hashApiKey(apiKey) });
  }
}
