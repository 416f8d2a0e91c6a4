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
    expect(endpointSettings({ leaseMs: 1500 }, { retentionMs: 9000 })).toMatchObject({
      leaseMs: 1500,
      retentionMs: 9000,
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
