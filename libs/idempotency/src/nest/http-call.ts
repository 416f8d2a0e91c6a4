import type { ExecutionContext } from '@nestjs/common';

import type { Endpoint } from './endpoints.js';
import type { HttpExchange } from './http-exchange.js';

/** One request to an idempotent endpoint. */
export interface HttpCall {
  readonly context: ExecutionContext;
  readonly exchange: HttpExchange;
  readonly endpoint: Endpoint;
}
