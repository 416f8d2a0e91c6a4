import { Injectable } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { ProviderError } from './provider-error.js';
import { isProviderCharge, isProviderRefund, type ProviderCharge, type ProviderRefund } from './provider-objects.js';

/** By which a call that changes something is known to the provider, and what ends it. */
export interface Sending {
  readonly providerKey: string;
  readonly signal: AbortSignal;
}

export interface ChargeRequest {
  readonly amount: number;
  readonly currency: string;
  readonly card: string;
  readonly reference: string;
  readonly capture: boolean;
}

export interface RefundRequest {
  readonly amount: number;
  readonly reference: string;
}

/** The card provider over HTTP. Whatever does not succeed rejects with a `ProviderError`; nothing is tried twice. */
@Injectable()
export class ProviderClient {
  constructor(private readonly settings: Settings) {}

  charge(request: ChargeRequest, sending: Sending): Promise<ProviderCharge> {
    return this.post('/charges', request, sending, isProviderCharge);
  }

  capture(id: string, sending: Sending): Promise<ProviderCharge> {
    return this.post(`/charges/${id}/capture`, undefined, sending, isProviderCharge);
  }

  refund(chargeId: string, request: RefundRequest, sending: Sending): Promise<ProviderRefund> {
    return this.post(`/charges/${chargeId}/refunds`, request, sending, isProviderRefund);
  }

  findCharge(id: string, signal: AbortSignal): Promise<ProviderCharge> {
    return this.call(`/charges/${id}`, { signal }, isProviderCharge);
  }

  /** The charge that was made under this reference; undefined when there is none. */
  async chargeOf(reference: string, signal: AbortSignal): Promise<ProviderCharge | undefined> {
    const { charges } = await this.call(`/charges?${search(reference)}`, { signal }, hasList('charges'));
    return charges.find(isProviderCharge);
  }

  /** The refund that was made under this reference; undefined when there is none. */
  async refundOf(reference: string, signal: AbortSignal): Promise<ProviderRefund | undefined> {
    const { refunds } = await this.call(`/refunds?${search(reference)}`, { signal }, hasList('refunds'));
    return refunds.find(isProviderRefund);
  }

  private post<Answer>(
    path: string,
    body: object | undefined,
    { providerKey, signal }: Sending,
    isAnswer: (value: unknown) => value is Answer,
  ): Promise<Answer> {
    const headers = {
      'Idempotency-Key': providerKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const json = body === undefined ? null : JSON.stringify(body);
    return this.call(path, { method: 'POST', headers, body: json, signal }, isAnswer);
  }

  private async call<Answer>(
    path: string,
    init: RequestInit & { readonly headers?: Record<string, string> },
    isAnswer: (value: unknown) => value is Answer,
  ): Promise<Answer> {
    const { providerUrl, providerApiKey } = this.settings;
    const headers = { ...init.headers, Authorization: `Bearer ${providerApiKey}` };
    let response: Response;
    let body: unknown;
    try {
      // Of a request that was sent on elsewhere, only the last answer would be seen.
      response = await fetch(`${providerUrl}${path}`, { ...init, headers, redirect: 'error' });
      body = await bodyOf(response);
    } catch (error) {
      throw new ProviderError('The provider did not answer.', undefined, error);
    }
    if (!response.ok) throw refused(response, body);
    if (!isAnswer(body))
      throw new ProviderError(`The provider answered ${response.status}, and nothing that makes sense.`);
    return body;
  }
}

/** Undefined where it is no JSON. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refused(response: Response, body: unknown): ProviderError {
  const { code, detail } = (body ?? {}) as { readonly code?: string; readonly detail?: string };
  const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
  const { status } = response;
  return new ProviderError(`The provider answered ${status}${code === undefined ? '' : ` ${code}`}.`, {
    status,
    code,
    detail,
    retryAfter,
  });
}

const search = (reference: string): string => new URLSearchParams({ reference }).toString();

const hasList =
  <Name extends string>(name: Name) =>
  (value: unknown): value is Record<Name, readonly unknown[]> =>
    typeof value === 'object' && value !== null && Array.isArray((value as Record<Name, unknown>)[name]);
