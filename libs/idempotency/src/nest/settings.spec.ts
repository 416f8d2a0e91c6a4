import { describe, expect, it } from '@jest/globals';

import type { EndpointOptions } from './options.js';
import { endpointSettings, moduleSettings } from './settings.js';

describe('endpointSettings', () => {
  it('has the documented defaults', () => {
    expect(endpointSettings({})).toMatchObject({ leaseMs: 60_000, retentionMs: 86_400_000, isRequired: true });
  });

  it("prefers the endpoint's own options to the module's", () => {
    const module = { lease: '10s', retention: '2h', required: false } as const;
    expect(endpointSettings(module, { lease: '20s' })).toMatchObject({
      leaseMs: 20_000,
      retentionMs: 7_200_000,
      isRequired: false,
    });
  });

  it('takes milliseconds under a name that says so', () => {
    expect(endpointSettings({ leaseMs: 1500 }, { retentionMs: 3_600_000 })).toMatchObject({
      leaseMs: 1500,
      retentionMs: 3_600_000,
    });
  });

  it.each<[options: EndpointOptions, message: string]>([
    [{ lease: '0s' }, '`lease` must be a positive duration'],
    [{ lease: '-5s' }, '`lease` must be a positive duration'],
    [{ lease: 'soon' as never }, '`lease` must be a positive duration'],
    [{ lease: '' as never }, '`lease` must be a positive duration'],
    [{ leaseMs: NaN }, '`lease` must be a positive duration'],
    [{ leaseMs: Infinity }, '`lease` must be a positive duration'],
    [{ lease: '30d' }, '`lease` must not be longer than 25d'],
    [{ retentionMs: 0 }, '`retention` must be a positive duration'],
    [{ retention: '30s' }, 'the retention (30000 ms) is shorter than the lease (60000 ms)'],
    [{ replayHeaders: ['X-Fine', 'Set-Cookie'] }, 'these headers are never replayed: Set-Cookie'],
  ])('refuses %j', (options, message) => {
    expect(() => endpointSettings({}, options)).toThrow(message);
    expect(() => endpointSettings(options)).toThrow(message);
  });
});

describe('options that an endpoint shares with its module', () => {
  const serializable = { claim: 'transaction', isolation: 'SERIALIZABLE' } as const;

  it('keep the isolation of the module, also where the endpoint repeats its claim', () => {
    expect(endpointSettings(serializable, { claim: 'transaction' }).strategy).toEqual({
      kind: 'transaction',
      isolation: 'SERIALIZABLE',
    });
    expect(endpointSettings(serializable, { claim: 'lease' }).strategy).toEqual({ kind: 'lease' });
  });

  it('can be switched off for the endpoint', () => {
    const module = { patience: '5s', errors: () => 'record' as const, authorizeReplay: () => true } as const;
    expect(endpointSettings(module, { patienceMs: 0, errors: null, authorizeReplay: null })).toMatchObject({
      patienceMs: 0,
      errors: undefined,
      authorizeReplay: undefined,
    });
  });

  it.each<[what: string, options: object, message: string]>([
    ['a name that is none', { patiense: '5s' }, 'there is no option `patiense`'],
    ['a recording that is none', { recording: 'statusonly' }, "`recording` must be one of 'full', 'status-only'"],
    ['a claim that is none', { claim: 'transactional' }, "`claim` must be one of 'lease', 'transaction'"],
    ['an isolation that is more than one', { isolation: 'SERIALIZABLE; DROP TABLE a' }, '`isolation` must be one of'],
    ['text for yes or no', { required: 'false' }, '`required` must be true or false'],
    ['a rule that is no function', { errors: 'record' }, '`errors` must be a function'],
    ['a protection that protects nothing', { protect: {} }, '`protect` must be a pair of functions'],
    ['a duration given twice', { lease: '5s', leaseMs: 9_000 }, 'both `lease` and `leaseMs` are given'],
    ['an empty name', { endpoint: '' }, '`endpoint` must be text that is not empty'],
    ['a name that no row can hold', { endpoint: 'a\0b' }, '`endpoint` must be text'],
  ])('are refused where they are %s', (_, options, message) => {
    expect(() => endpointSettings({}, options)).toThrow(message);
  });

  it.each<[what: string, options: object, message: string]>([
    ['a header that is none', { header: 'bad header' }, '`header` must be the name of a header'],
    [
      'a page with a line break',
      { docsUrl: 'https://a.test/\nb' },
      '`docsUrl` must be text without control characters',
    ],
    ['text for yes or no', { singleTenant: 'false' }, '`singleTenant` must be true or false'],
  ])('of the module are refused where they are %s', (_, options, message) => {
    expect(() => moduleSettings({ singleTenant: true, ...options })).toThrow(message);
  });
});

describe('moduleSettings', () => {
  it.each([{}, { tenant: () => 'a', singleTenant: true }])(
    'refuses %j, which does not say whose keys are whose',
    (options) => {
      expect(() => moduleSettings(options)).toThrow('say whose keys are whose');
    },
  );

  it('refuses a recording limit that is too small for ordinary answers', () => {
    expect(() => moduleSettings({ singleTenant: true, recordingLimitBytes: 1000 })).toThrow('65536');
    expect(() => moduleSettings({ singleTenant: true, recordingLimitBytes: NaN })).toThrow('65536');
  });

  it('notices stray writes everywhere but in production', () => {
    expect(moduleSettings({ singleTenant: true }).noticesStrayWrites).toBe(true);
    expect(moduleSettings({ singleTenant: true, strayWrites: 'ignore' }).noticesStrayWrites).toBe(false);
  });
});
