import { describe, expect, it } from 'vitest';
import { countOf, fromStored, quantile } from '../common/histogram/histogram.js';
import { type UsedRequest, usageMinutes } from './usage-minutes.js';

const aRequest = (given: Partial<UsedRequest> = {}): UsedRequest => ({
  created_at: new Date('2026-11-21T10:15:30.500Z'),
  organisation_id: 'org',
  workspace_id: 'workspace',
  api_key_id: 'key',
  virtual_key_id: null,
  provider: 'openai',
  model: 'gpt',
  endpoint: 'chat-completions',
  status: 200,
  usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4, reasoning_tokens: 3 },
  usage_source: 'provider',
  cost_nano_usd: 1_000n,
  duration_ms: 120,
  first_token_ms: 20,
  ...given,
});

describe('usageMinutes', () => {
  it('sums up what belongs to one minute and key', () => {
    const [minute, ...others] = usageMinutes([
      aRequest(),
      aRequest({ duration_ms: 80, first_token_ms: null }),
    ]);

    expect(others).toEqual([]);
    expect(minute).toMatchObject({
      minute: '2026-11-21T10:15:00.000Z',
      requests: 2,
      input_tokens: 20,
      output_tokens: 10,
      cached_input_tokens: 8,
      reasoning_tokens: 6,
      cost_nano_usd: '2000',
      duration_us: 200_000,
      first_token_us: 20_000,
    });
    expect(countOf(fromStored(minute?.duration_histogram ?? {}))).toBe(2);
    expect(quantile(fromStored(minute?.first_token_histogram ?? {}), 0.5)).toBeCloseTo(20_000, -3);
  });

  it('keeps apart what differs in any part of the key', () => {
    const others: Partial<UsedRequest>[] = [
      { created_at: new Date('2026-11-21T10:16:00.000Z') },
      { organisation_id: 'other' },
      { workspace_id: 'other' },
      { api_key_id: 'other' },
      { virtual_key_id: 'other' },
      { provider: 'other' },
      { model: 'other' },
      { endpoint: 'other' },
      { status: 500 },
    ];
    expect(usageMinutes([{}, ...others].map(aRequest))).toHaveLength(others.length + 1);
  });

  it('writes unknown parts of the key as empty text', () => {
    const nothing = { workspace_id: null, virtual_key_id: null, provider: null, model: null, endpoint: null };
    expect(usageMinutes([aRequest(nothing)])).toMatchObject([
      { workspace_id: '', virtual_key_id: '', provider: '', model: '', endpoint: '' },
    ]);
  });

  it('counts requests without a price instead of taking them for free', () => {
    expect(usageMinutes([aRequest({ cost_nano_usd: null }), aRequest()])).toMatchObject([
      { requests: 2, unpriced_requests: 1, cost_nano_usd: '1000' },
    ]);
  });

  it('counts requests whose tokens were counted here', () => {
    expect(usageMinutes([aRequest({ usage_source: 'counted' }), aRequest()])).toMatchObject([
      { counted_requests: 1 },
    ]);
  });

  it('adds money beyond what a floating number holds', () => {
    const large = 2n ** 53n;
    expect(usageMinutes([aRequest({ cost_nano_usd: large }), aRequest({ cost_nano_usd: 1n })])).toMatchObject(
      [{ cost_nano_usd: (large + 1n).toString() }],
    );
  });

  it('gives the same order whatever order the requests came in', () => {
    const requests = ['c', 'a', 'b', 'é', 'Z'].map((model) => aRequest({ model }));
    expect(usageMinutes(requests)).toEqual(usageMinutes([...requests].reverse()));
  });

  it('cuts a long model between characters, so that it stays text', () => {
    const [minute] = usageMinutes([aRequest({ model: '💸'.repeat(500) })]);
    expect(minute?.model).toBe('💸'.repeat(128));
  });
});
