export const TENANTS = ['alice', 'bob'] as const;
export const KEYS = ['k1', 'k2'] as const;

export type Tenant = (typeof TENANTS)[number];
export type EndpointName = keyof typeof ENDPOINTS;

/** `a` and `b` are two different requests, and `unfit` is a third that no pipe lets through. */
export type Asked = 'a' | 'b' | 'unfit';

/** A request as the model tells it apart from others. */
export interface Operation {
  readonly tenant: Tenant;
  readonly endpoint: EndpointName;
  readonly key: string;
}

interface Endpoint {
  readonly claim: 'lease' | 'transaction';
  /** What is sent for each request; no two of them are equal. */
  readonly requests: Readonly<
    Record<Asked, { readonly path: string; readonly body: Readonly<Record<string, unknown>> }>
  >;
}

/** The requests of one differ in their bodies, those of another in their path parameters, those of a third in their query. */
export const ENDPOINTS = {
  payments: {
    claim: 'lease',
    requests: {
      a: { path: '/payments', body: { amount: 1, currency: 'EUR' } },
      b: { path: '/payments', body: { amount: 2, currency: 'EUR' } },
      unfit: { path: '/payments', body: { amount: 'two', currency: 'EUR' } },
    },
  },
  debits: {
    claim: 'lease',
    requests: {
      a: { path: '/accounts/1/debits', body: { amount: 1, currency: 'EUR' } },
      b: { path: '/accounts/2/debits', body: { amount: 1, currency: 'EUR' } },
      unfit: { path: '/accounts/1/debits', body: { amount: null, currency: 'EUR' } },
    },
  },
  transfers: {
    claim: 'transaction',
    requests: {
      a: { path: '/transfers?to=1', body: { amount: 1, currency: 'EUR' } },
      b: { path: '/transfers?to=2', body: { amount: 1, currency: 'EUR' } },
      unfit: { path: '/transfers?to=1', body: { amount: 1.5, currency: 'EUR' } },
    },
  },
} as const satisfies Record<string, Endpoint>;

/** How attempts at an operation keep others away. */
export function claimOf({ endpoint }: Operation): 'lease' | 'transaction' {
  return ENDPOINTS[endpoint].claim;
}

export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[];

/** One text for one operation, different for every two. */
export function nameOf({ tenant, endpoint, key }: Operation): string {
  return `${tenant} ${endpoint} ${key}`;
}

/** Requests that name no operation, and what they are refused with. */
export const NONSENSE = {
  'no key': { tenant: 'alice', key: undefined, status: 400, code: 'idempotency-key-missing' },
  'an empty key': { tenant: 'alice', key: '', status: 400, code: 'idempotency-key-invalid', reason: 'empty' },
  'a blank key': { tenant: 'alice', key: '" "', status: 400, code: 'idempotency-key-invalid', reason: 'empty' },
  'a long key': {
    tenant: 'alice',
    key: 'k'.repeat(256),
    status: 400,
    code: 'idempotency-key-invalid',
    reason: 'too_long',
  },
  'two keys': { tenant: 'alice', key: 'k1, k2', status: 400, code: 'idempotency-key-invalid', reason: 'syntax' },
  'no tenant': { tenant: undefined, key: 'k1', status: 500, code: 'idempotency-scope-unresolved' },
} as const;
