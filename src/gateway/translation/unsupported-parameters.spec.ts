import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { DROPPABLE_PARAMETERS } from '../../providers/unsupported-parameters.js';

const CHAT = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hi' }] };
const CLAUDE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 1 },
});
const GEMINI = JSON.stringify({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
});
const OPENAI = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});
const DROP = { 'x-gateway-unsupported-parameters': 'drop' };
const DROPPED = 'x-gateway-dropped-parameters';

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({
    virtualKeys: { claude: 'anthropic', gemini: 'google', rock: 'bedrock' },
    answers: [{ chunks: [CLAUDE] }],
    ...wishes,
  }));
afterEach(() => gateway.close());

const at = (slug: string) => ({ 'x-gateway-virtual-key': slug });
const by = (config: object) => ({ ...at(''), 'x-gateway-config': JSON.stringify(config) });
const sentBody = (call = gateway.calls.length - 1): Record<string, unknown> =>
  JSON.parse((gateway.calls[call]?.body as Buffer).toString()) as Record<string, unknown>;

interface ParameterRefusal {
  readonly error: { readonly code: string; readonly param: string; readonly message: string };
}
const refusalOf = async (answer: Response): Promise<ParameterRefusal['error']> =>
  ((await answer.json()) as ParameterRefusal).error;

/** Each with a value that has an effect, the client's endpoint, and a provider that does not support it. */
const ASKED: readonly (readonly [name: string, value: unknown, slug: string, path: string])[] = [
  ['seed', 7, 'claude', 'chat/completions'],
  ['frequency_penalty', 0.5, 'claude', 'chat/completions'],
  ['presence_penalty', 0.5, 'claude', 'chat/completions'],
  ['logit_bias', { '50256': -100 }, 'claude', 'chat/completions'],
  ['verbosity', 'low', 'claude', 'chat/completions'],
  ['logprobs', true, 'claude', 'chat/completions'],
  ['top_logprobs', 3, 'claude', 'chat/completions'],
  ['prediction', { type: 'content', content: 'Hello' }, 'gemini', 'chat/completions'],
  ['store', true, 'claude', 'responses'],
  ['truncation', 'auto', 'claude', 'responses'],
  ['context_management', [{ type: 'compaction' }], 'claude', 'responses'],
];

describe('a parameter that the provider does not have', () => {
  it('is tried below for each that may be dropped', async () => {
    await given();
    expect(ASKED.map(([name]) => name).toSorted()).toEqual([...DROPPABLE_PARAMETERS.keys()].toSorted());
  });

  it.each(ASKED)('"%s" is refused, or dropped on request', async (name, value, slug, path) => {
    await given({ answers: [{ chunks: [slug === 'gemini' ? GEMINI : CLAUDE] }] });
    const said = path === 'responses' ? { model: CHAT.model, input: 'Hi' } : CHAT;
    const ask = (headers: object): Promise<Response> =>
      gateway.request(`/v1/${path}`, {
        method: 'POST',
        body: JSON.stringify({ ...said, [name]: value }),
        headers: { 'content-type': 'application/json', ...at(slug), ...headers },
      });

    const refused = await ask({});
    expect(refused.status).toBe(400);
    expect(await refusalOf(refused)).toMatchObject({
      code: 'parameter_unsupported',
      param: name,
      message: expect.stringContaining('x-gateway-unsupported-parameters: drop') as string,
    });
    expect(gateway.calls).toHaveLength(0);

    const answer = await ask(DROP);
    expect([answer.status, answer.headers.get(DROPPED)]).toEqual([200, name]);
    expect(JSON.stringify(sentBody())).not.toContain(name);
    expect(await answer.text()).toContain('Hello');
    await expect.poll(() => gateway.logs.at(-1)?.record).toMatchObject({ dropped_parameters: [name] });
  });

  it.each([
    ['n', 2, 'claude'],
    ['response_format', { type: 'json_object' }, 'claude'],
    ['service_tier', 'flex', 'claude'],
    ['audio', { voice: 'alloy', format: 'mp3' }, 'claude'],
    ['web_search_options', {}, 'claude'],
    ['parallel_tool_calls', false, 'gemini'],
    ['stop', ['a', 'b', 'c', 'd', 'e', 'f'], 'gemini'],
  ])('"%s" is never dropped, because the client would misread the response', async (name, value, slug) => {
    await given();

    const answer = await gateway.chat({ ...CHAT, seed: 7, [name]: value }, { ...at(slug), ...DROP });

    expect(answer.status).toBe(400);
    const { code, param, message } = await refusalOf(answer);
    expect([code, param]).toEqual(['parameter_unsupported', name]);
    expect(message).not.toContain('x-gateway-unsupported-parameters');
    expect(gateway.calls).toHaveLength(0);
  });

  it('is named with all others in the header, also of a stream and of a compatible client', async () => {
    await given({ answers: [{ headers: { 'content-type': 'text/event-stream' }, chunks: [] }] });

    const answer = await gateway.chat(
      { ...CHAT, stream: true, logit_bias: { '1': 1 }, seed: 7, temperature: 0.5 },
      { ...at('claude'), ...DROP, 'x-portkey-package-version': '1' },
    );

    expect(answer.headers.get(DROPPED)).toBe('logit_bias, seed');
    expect(answer.headers.get('x-portkey-dropped-parameters')).toBe('logit_bias, seed');
    expect(sentBody()).toMatchObject({ temperature: 0.5 });
    await answer.text();
  });

  it('is unknown to the rest of a translation: a response repeats what applies', async () => {
    await given();

    const answer = await gateway.request('/v1/responses', {
      method: 'POST',
      body: JSON.stringify({ model: CHAT.model, input: 'Hi', truncation: 'auto', temperature: 0.5 }),
      headers: { 'content-type': 'application/json', ...at('claude'), ...DROP },
    });

    expect(await answer.json()).toMatchObject({ truncation: 'disabled', temperature: 0.5 });
  });
});

describe('the rule for unsupported parameters', () => {
  it('is that of the header, or else of the config, or else of the virtual key', async () => {
    const status = async (wishes: GatewayWishes, headers: Record<string, string>): Promise<number> => {
      const { chat, close } = await given(wishes);
      const answer = await chat({ ...CHAT, seed: 7 }, headers);
      await close();
      return answer.status;
    };
    const config = (rule: string) => by({ virtual_key: 'claude', unsupported_parameters: rule });
    const refuse = { 'x-gateway-unsupported-parameters': 'refuse' };

    expect(await status({}, at('claude'))).toBe(400);
    expect(await status({ unsupportedParameters: 'drop' }, at('claude'))).toBe(200);
    expect(await status({ unsupportedParameters: 'refuse' }, config('drop'))).toBe(200);
    expect(await status({ unsupportedParameters: 'drop' }, config('refuse'))).toBe(400);
    expect(await status({}, { ...config('refuse'), ...DROP })).toBe(200);
    expect(await status({ unsupportedParameters: 'drop' }, { ...config('drop'), ...refuse })).toBe(400);
  });

  it('of a target takes precedence over that above it, so that a fallback moves past a refusal', async () => {
    await given();
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [400] },
      unsupported_parameters: 'drop',
      targets: [{ virtual_key: 'gemini', unsupported_parameters: 'refuse' }, { virtual_key: 'claude' }],
    };

    const answer = await gateway.chat({ ...CHAT, verbosity: 'low' }, by(config));

    expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'anthropic']);
    expect(gateway.calls).toHaveLength(1);
  });

  it.each(['', ' ', 'Drop', 'drop,refuse', 'ignore'])(
    '%j in the header: only known values',
    async (value) => {
      await given();

      const answer = await gateway.chat(CHAT, {
        ...at('claude'),
        'x-gateway-unsupported-parameters': value,
      });

      if (value.trim() === '') expect(answer.status).toBe(200);
      else
        expect([answer.status, await refusalOf(answer)]).toMatchObject([
          400,
          { code: 'header_invalid', message: expect.stringContaining('"refuse" or "drop"') as string },
        ]);
    },
  );

  it('decides for each target of a fallback: the one that has the parameter gets it', async () => {
    await given({ answers: [{ status: 500, chunks: ['{}'] }, { chunks: [OPENAI] }] });
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'claude' }, { virtual_key: 'openai-prod' }],
    };

    const answer = await gateway.chat({ ...CHAT, seed: 7 }, { ...by(config), ...DROP });

    expect([answer.status, answer.headers.get(DROPPED)]).toEqual([200, null]);
    expect(sentBody(0)).not.toHaveProperty('seed');
    expect(sentBody(1)).toHaveProperty('seed', 7);
    expect((await gateway.logged()).dropped_parameters).toBeNull();
  });

  it('leaves no trace in a request whose provider has all of its parameters', async () => {
    await given({ answers: [{ chunks: [GEMINI] }] });

    const answer = await gateway.chat({ ...CHAT, seed: 7 }, { ...at('gemini'), ...DROP });

    expect([answer.status, answer.headers.get(DROPPED)]).toEqual([200, null]);
    expect(sentBody()).toMatchObject({ generationConfig: { seed: 7 } });
  });
});

describe('the response cache', () => {
  it('returns a response again for what was sent as the same request, and names what that one lost', async () => {
    await given();
    const ask = (more: object): Promise<Response> =>
      gateway.chat({ ...CHAT, ...more }, { ...at('claude'), ...DROP, 'x-gateway-cache': 'simple' });

    await (await ask({})).text();
    const answer = await ask({ seed: 7 });

    expect(answer.headers.get('x-gateway-cache-status')).toBe('HIT');
    expect(answer.headers.get(DROPPED)).toBe('seed');
    expect(gateway.calls).toHaveLength(1);
  });

  it('keeps apart requests of which a provider got the parameter and another did not', async () => {
    await given({ answers: [{ chunks: [GEMINI] }] });
    const ask = async (more: object): Promise<string | null> => {
      const headers = { ...at('gemini'), ...DROP, 'x-gateway-cache': 'simple' };
      const answer = await gateway.chat({ ...CHAT, ...more }, headers);
      await answer.text();
      return answer.headers.get('x-gateway-cache-status');
    };

    expect(await ask({ seed: 7 })).toBe('MISS');
    expect(await ask({})).toBe('MISS');
    expect(await ask({ seed: 7, verbosity: 'low' })).toBe('HIT');
  });
});
