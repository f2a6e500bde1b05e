import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const WHOLE = JSON.stringify({
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});
const BROKEN: ScriptedAnswer = { status: 200, chunks: ['{"choices":'], error: new Error('read ECONNRESET') };
const GOOD: ScriptedAnswer = { chunks: [WHOLE.slice(0, 20), WHOLE.slice(20)] };

let gateway: TestGateway;
afterEach(() => gateway.close());

async function asked(
  answers: readonly ScriptedAnswer[],
  retry: object | null,
  body: object = CHAT,
): Promise<Response> {
  gateway = await aGateway({ answers });
  const config = { virtual_key: 'openai-prod', ...(retry && { retry }) };
  return gateway.chat(body, { 'x-gateway-config': JSON.stringify(config) });
}

describe('a connection that breaks after the head of a plain response', () => {
  it('is retried as the config says, because the client has received nothing', async () => {
    const response = await asked([BROKEN, GOOD], { attempts: 1 });

    expect([response.status, await response.text()]).toEqual([200, WHOLE]);
    expect(gateway.calls).toHaveLength(2);
    expect((await gateway.logged()).attempts).toHaveLength(2);
  });

  it('is a 502 when the retries are used up, and without a retry rule', async () => {
    expect((await asked([BROKEN], { attempts: 2 })).status).toBe(502);
    expect(gateway.calls).toHaveLength(3);
    await gateway.close();
    expect((await asked([BROKEN, GOOD], null)).status).toBe(502);
    expect(gateway.calls).toHaveLength(1);
  });

  it('is not retried for statuses that the config does not list', async () => {
    expect((await asked([BROKEN, GOOD], { attempts: 1, on_status_codes: [429] })).status).toBe(502);
    expect(gateway.calls).toHaveLength(1);
  });

  it('is not retried in a stream, whose beginning the client has', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const event = 'data: {"choices":[{"index":0,"delta":{"content":"He"}}]}\n\n';
    const stream = { headers, status: 200, chunks: [event], error: new Error('read ECONNRESET') };
    const response = await asked([stream, GOOD], { attempts: 1 }, { ...CHAT, stream: true });
    await response.text().catch(() => undefined);

    expect(gateway.calls).toHaveLength(1);
  });
});

describe('a plain response under a retry rule', () => {
  it('arrives byte for byte, also when it is too long to be held', async () => {
    const long = JSON.stringify({ ...(JSON.parse(WHOLE) as object), filler: 'x'.repeat(400_000) });
    const chunks = [long.slice(0, 200_000), long.slice(200_000, 300_000), long.slice(300_000)];
    for (const answer of [GOOD, { chunks }]) {
      const response = await asked([answer], { attempts: 1 });
      expect(await response.text()).toBe((answer.chunks ?? []).join(''));
      await gateway.close();
    }
  });
});
