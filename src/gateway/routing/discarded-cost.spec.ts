import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const ANSWER = JSON.stringify({
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
});
const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
/** Nano-dollars of the usage above. */
const COST = 100 * 150 + 10 * 600;
const SSE = { 'content-type': 'text/event-stream' };
const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const FALLBACK = {
  strategy: { mode: 'fallback' },
  targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }],
};

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { groq: 'groq' }, ...wishes }));
afterEach(() => gateway.close());

const by = (config: object) => ({ 'x-gateway-virtual-key': '', 'x-gateway-config': JSON.stringify(config) });

describe('a response that a fallback discards', () => {
  it('is charged with what its stream reported before it broke', async () => {
    const budget = aBudget(1_000_000_000);
    const broken = {
      headers: SSE,
      chunks: [
        event({ model: 'gpt-4o-mini', choices: [], usage: USAGE }),
        event({ error: { message: 'no' } }),
      ],
    };
    const { chat, logs } = await given({
      caller: aCaller({ limits: { limits: [budget], policies: [] } }),
      answers: [broken, { headers: SSE, chunks: [event({ choices: [], usage: USAGE }), 'data: [DONE]\n\n'] }],
    });

    const options = { stream: true, stream_options: { include_usage: true } };
    await (await chat({ ...CHAT, ...options }, by(FALLBACK))).text();

    expect(logs[0]?.record).toMatchObject({
      cost_nano_usd: 2 * COST,
      attempts: [
        {
          option_path: 'config.targets[0]',
          error_code: 'upstream_error',
          usage: { input_tokens: 100, output_tokens: 10 },
          cost_nano_usd: COST,
          charges: [{ counter: budget.id, leased: COST }],
        },
        { option_path: 'config.targets[1]', error_code: null, cost_nano_usd: COST },
      ],
    });
  });

  it('is charged with the usage that an error reports, also when the same target is tried again', async () => {
    const failed = { status: 500, chunks: [JSON.stringify({ error: { message: 'no' }, usage: USAGE })] };
    const { chat, logs } = await given({ answers: [failed, failed, { chunks: [ANSWER] }] });
    const retried = { ...FALLBACK, retry: { attempts: 1, on_status_codes: [500] } };

    expect((await chat(CHAT, by(retried))).status).toBe(200);

    expect(logs[0]?.record.attempts.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([COST, COST, COST]);
    expect(logs[0]?.record.cost_nano_usd).toBe(3 * COST);
  });

  it('costs nothing where it reports no usage', async () => {
    const { chat, logs } = await given({
      answers: [{ status: 500, chunks: ['{"error":{}}'] }, { chunks: [ANSWER] }],
    });

    await chat(CHAT, by(FALLBACK));

    expect(logs[0]?.record.attempts[0]).toMatchObject({ usage: null, cost_nano_usd: null });
    expect(logs[0]?.record.attempts[0]).not.toHaveProperty('countable');
    expect(logs[0]?.record.cost_nano_usd).toBe(COST);
  });
});
