import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget, aLimit, slots } from '../../../test/support/limits.js';
import type { Limit } from '../../common/limits/limit.js';

const ANSWER = JSON.stringify({
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
const COST = 100 * 150 + 10 * 600;

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> => (gateway = await aGateway(wishes));
const limitedBy = (...limits: readonly Limit[]): GatewayWishes => ({
  caller: aCaller({ limits: { limits, policies: [] } }),
  answers: [{ chunks: [ANSWER] }],
});
afterEach(() => gateway.close());

describe('a request under limits', () => {
  it('is charged what it cost, in its record', async () => {
    const budget = aBudget(1_000_000_000);
    const { chat, logged } = await given(limitedBy(budget));

    await chat(CHAT);

    expect((await logged()).attempts).toMatchObject([
      { cost_nano_usd: COST, charges: [{ counter: budget.id, measure: 'cost', leased: COST }] },
    ]);
  });

  it('carries no charge where no budget applies', async () => {
    const { chat, logged } = await given({ answers: [{ chunks: [ANSWER] }] });

    await chat(CHAT);

    expect((await logged()).attempts[0]).not.toHaveProperty('charges');
  });

  it('is refused with 402 when the budget does not cover it, and the response forbids retries', async () => {
    const { chat, calls, logged } = await given(limitedBy(aBudget(5_000)));

    const response = await chat(CHAT);

    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({
      error: {
        code: 'budget_exceeded',
        type: 'budget_error',
        message:
          'The budget of this API key has $0.000005 left, and this request may use up to $0.00001845. Lower max_tokens, or raise the budget.',
      },
    });
    expect(calls).toEqual([]);
    expect(await logged()).toMatchObject({ ending: 'refused', status: 402, cost_nano_usd: null });
  });

  it('is refused with 429 when the rate is reached, with the time of the next try', async () => {
    const { chat } = await given(limitedBy(aLimit({ amount: 1, windowMs: 60_000 })));
    await chat(CHAT);

    const response = await chat(CHAT);

    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limited' } });
    expect(response.headers.get('retry-after')).toBe('60');
    expect(response.headers.get('x-ratelimit-limit')).toBe('1');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(response.headers.get('x-ratelimit-reset')).toBe('60');
  });

  it('is held to the limits of its virtual key', async () => {
    const { chat, request } = await given({ limits: [aLimit({ amount: 0 })], answers: [{ chunks: ['{}'] }] });

    expect((await chat(CHAT)).status).toBe(429);
    expect((await request('/v1/models/x', { headers: { 'x-gateway-provider': 'sandbox' } })).status).toBe(
      200,
    );
  });

  it('is charged when the client left, and its slot is free again', async () => {
    const [budget, slot] = [aBudget(1_000_000_000), slots(1)];
    const { chat, logged, limits } = await given({
      ...limitedBy(budget, slot),
      answers: [
        {
          headers: { 'content-type': 'text/event-stream' },
          chunks: ['data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'],
          isEndless: true,
        },
      ],
    });
    const response = await chat({ ...CHAT, stream: true });
    await response.body?.getReader().read();
    await response.body?.cancel().catch(() => undefined);
    await gateway.close();

    const { ending, attempts } = await logged();

    expect(ending).toBe('client_aborted');
    expect(attempts[0]?.charges?.[0]?.leased).toBeGreaterThan(0);
    await expect.poll(() => limits.leased.get(slot.id)).toBe(0);
    await expect.poll(() => limits.leased.get(budget.id)).toBe(attempts[0]?.charges?.[0]?.leased);
  });

  it('costs nothing when the provider refuses', async () => {
    const budget = aBudget(1_000_000_000);
    const { chat, logged, limits } = await given({
      ...limitedBy(budget),
      answers: [{ status: 500, chunks: ['{}'] }],
    });

    await chat(CHAT);

    expect((await logged()).attempts).toMatchObject([{ charges: [{ leased: 0 }] }]);
    await expect.poll(() => limits.leased.get(budget.id)).toBe(0);
  });

  it('reserves for each try', async () => {
    const limit = aLimit({ amount: 2 });
    const { chat, calls } = await given({
      limits: [limit],
      answers: [{ status: 503, headers: { 'retry-after-ms': '1' } }],
    });

    const response = await chat(CHAT, { 'x-gateway-retry-count': '5' });

    expect(response.status).toBe(429);
    expect(calls).toHaveLength(2);
  });

  it('moves on to another target when the virtual key is exhausted, and is charged for the one that responds', async () => {
    const [few, budget] = [aLimit({ amount: 0 }), aBudget(1_000_000_000)];
    const { chat, calls, logged } = await given({
      ...limitedBy(budget),
      limits: [few],
      virtualKeys: { other: 'openai' },
    });
    const targets = [{ virtual_key: 'openai-prod' }, { virtual_key: 'other' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });

    const response = await chat(CHAT, { 'x-gateway-config': config, 'x-gateway-virtual-key': '' });

    expect(response.status).toBe(200);
    expect(calls).toHaveLength(1);
    expect((await logged()).attempts.at(-1)).toMatchObject({
      charges: [{ counter: budget.id, leased: COST }],
    });
  });

  it('reserves for each target of a fallback and gives back what the failed one did not use', async () => {
    const budget = aBudget(1_000_000_000);
    const { chat, logged, limits } = await given({
      ...limitedBy(budget),
      virtualKeys: { other: 'openai' },
      answers: [{ status: 500, chunks: ['{}'] }, { chunks: [ANSWER] }],
    });
    const targets = [{ virtual_key: 'openai-prod' }, { virtual_key: 'other' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });

    await chat(CHAT, { 'x-gateway-config': config, 'x-gateway-virtual-key': '' });

    expect((await logged()).attempts.map(({ charges }) => charges?.[0]?.leased)).toEqual([0, COST]);
    await expect.poll(() => limits.leased.get(budget.id)).toBe(COST);
  });

  it('has its reservation on record before it is sent, so that a killed process still pays for it', async () => {
    const [budget, tokens] = [aBudget(1_000_000_000), { ...aBudget(1_000_000), measure: 'tokens' } as const];
    const { chat, updated, opened } = await given({
      ...limitedBy(budget, tokens),
      virtualKeys: { other: 'openai' },
      answers: [{ status: 500, chunks: ['{}'] }, { chunks: [ANSWER] }],
    });
    const targets = [{ virtual_key: 'openai-prod' }, { virtual_key: 'other' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });

    await chat(CHAT, { 'x-gateway-config': config, 'x-gateway-virtual-key': '' });

    const bytes = JSON.stringify(CHAT).length;
    const reserved = {
      status: null,
      error_code: 'gateway_crashed',
      usage: { input_tokens: bytes, output_tokens: 10 },
      cost_nano_usd: bytes * 150 + 10 * 600,
      charges: [
        { counter: budget.id, measure: 'cost', leased: bytes * 150 + 10 * 600 },
        { counter: tokens.id, measure: 'tokens', leased: bytes + 10 },
      ],
    };
    expect(updated.map(({ sent }) => sent)).toEqual([0, 1]);
    expect(updated.map(({ id }) => id)).toEqual([opened[0]?.id, opened[0]?.id]);
    expect(updated[0]?.attempts_so_far).toMatchObject([
      { attempt: 0, option_path: 'config.targets[0]', ...reserved },
    ]);
    // An ended attempt is stored with its result.
    expect(updated[1]?.attempts_so_far).toMatchObject([
      { attempt: 0, status: 500, charges: [{ leased: 0 }, { leased: 0 }] },
      { attempt: 1, option_path: 'config.targets[1]', ...reserved },
    ]);
  });

  it('writes nothing more where no budget applies', async () => {
    const { chat, updated } = await given(limitedBy(aLimit({ amount: 10 })));

    await chat(CHAT);

    expect(updated).toEqual([]);
  });
});
