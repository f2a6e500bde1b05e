import OpenAI from 'openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { chatCompletionsUsage } from '../endpoints/chat-completions.js';
import { sandboxModels } from './models.js';
import { sandboxAnswer, type SandboxAnswer } from './sandbox.js';
import type { WireChunk, WireCompletion, WireModel } from './wire.js';

const hello = [{ role: 'user' as const, content: 'Hello there, sandbox' }];
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Kyiv', 'Oslo'] }, days: { type: 'integer' } },
      required: ['city', 'days'],
    },
  },
};

const ask = (body: unknown, path = '/chat/completions', method = 'POST'): SandboxAnswer =>
  sandboxAnswer({ method, path, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) });

const textOf = (answer: SandboxAnswer) => Buffer.concat(answer.frames.map((frame) => frame.bytes)).toString();
const jsonOf = (answer: SandboxAnswer) => JSON.parse(textOf(answer));

/** OpenAI's own client, with the sandbox as its server. */
const client = new OpenAI({
  apiKey: 'not-needed',
  baseURL: 'https://sandbox.invalid/v1',
  maxRetries: 0,
  fetch: async (url, init) => {
    const { pathname } = new URL(url instanceof Request ? url.url : url);
    const answer = ask(
      typeof init?.body === 'string' ? init.body : '',
      pathname.replace('/v1', ''),
      init?.method ?? 'GET',
    );
    return new Response(textOf(answer), {
      status: answer.status,
      headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
    });
  },
});

describe("the sandbox, called by OpenAI's client", () => {
  it('has the types of its wire format', () => {
    expectTypeOf<WireCompletion>().toExtend<OpenAI.Chat.ChatCompletion>();
    expectTypeOf<WireChunk>().toExtend<OpenAI.Chat.ChatCompletionChunk>();
    expectTypeOf<WireModel>().toExtend<OpenAI.Model>();
  });

  it('repeats the last user message and counts words as tokens', async () => {
    const answer = await client.chat.completions.create({ model: 'sandbox-1', messages: hello });

    expect(answer.choices[0]?.message.content).toBe('You said: Hello there, sandbox');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage).toEqual({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
  });

  it('streams the same content that it returns without a stream, and the usage on request', async () => {
    const stream = client.chat.completions.stream({
      model: 'sandbox-1',
      messages: hello,
      stream_options: { include_usage: true },
    });
    const answer = await stream.finalChatCompletion();

    expect(answer.choices[0]?.message.content).toBe('You said: Hello there, sandbox');
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
  });

  it('gives as many choices as requested, streamed and not', async () => {
    const request = { model: 'sandbox-1', messages: hello, n: 3 };

    expect((await client.chat.completions.create(request)).choices.map(({ index }) => index)).toEqual([
      0, 1, 2,
    ]);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices.map(({ message }) => message.content)).toEqual(
      Array(3).fill('You said: Hello there, sandbox'),
    );
  });

  it.each([
    [
      'the choice forces it',
      [{ role: 'user' as const, content: 'hi' }],
      { type: 'function' as const, function: { name: 'get_weather' } },
    ],
    ['some tool is required', [{ role: 'user' as const, content: 'hi' }], 'required' as const],
    ['the message names it', [{ role: 'user' as const, content: 'please get_weather' }], 'auto' as const],
  ])('calls a tool when %s', async (_, messages, tool_choice) => {
    const request = { model: 'sandbox-1', messages, tools: [weather], tool_choice };
    const answer = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();

    for (const { choices } of [answer, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls');
      expect(choices[0]?.message.content).toBeNull();
      const call = choices[0]?.message.tool_calls?.[0];
      expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
      expect(JSON.parse((call as { function: { arguments: string } }).function.arguments)).toEqual({
        city: 'Kyiv',
        days: 1,
      });
    }
  });

  it('calls no tool when forbidden, and repeats the result of a tool', async () => {
    const refused = await client.chat.completions.create({
      model: 'sandbox-1',
      messages: [{ role: 'user', content: 'get_weather' }],
      tools: [weather],
      tool_choice: 'none',
    });
    const after = await client.chat.completions.create({
      model: 'sandbox-1',
      messages: [
        { role: 'user', content: 'get_weather' },
        { role: 'tool', tool_call_id: 'x', content: 'sunny' },
      ],
      tools: [weather],
    });

    expect(refused.choices[0]?.finish_reason).toBe('stop');
    expect(after.choices[0]?.message.content).toBe('The tool answered: sunny');
  });

  it('writes JSON on request, by mode or by schema', async () => {
    const byMode = await client.chat.completions.create({
      model: 'sandbox-1',
      messages: hello,
      response_format: { type: 'json_object' },
    });
    const bySchema = await client.chat.completions.parse({
      model: 'sandbox-1',
      messages: hello,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'w', schema: weather.function.parameters },
      },
    });

    expect(JSON.parse(byMode.choices[0]?.message.content ?? '')).toEqual({
      answer: 'You said: Hello there, sandbox',
    });
    expect(JSON.parse(bySchema.choices[0]?.message.content ?? '')).toEqual({ city: 'Kyiv', days: 1 });
  });

  it('stops at max_tokens and reports it', async () => {
    const answer = await client.chat.completions.create({
      model: 'sandbox-1',
      messages: hello,
      max_completion_tokens: 2,
    });

    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said:' } });
    expect(answer.usage?.completion_tokens).toBe(2);
  });

  it('lists its models', async () => {
    const listed = (await client.models.list()).data.map(({ id }) => id);

    expect(listed).toEqual(sandboxModels.map(({ id }) => id));
    expect(await client.models.retrieve('sandbox-1')).toMatchObject({ id: 'sandbox-1', object: 'model' });
  });

  it('refuses as the error models promise', async () => {
    const messages = hello;

    await expect(client.chat.completions.create({ model: 'sandbox-error-429', messages })).rejects.toThrow(
      OpenAI.RateLimitError,
    );
    await expect(client.chat.completions.create({ model: 'sandbox-error-500', messages })).rejects.toThrow(
      OpenAI.InternalServerError,
    );
    await expect(client.chat.completions.create({ model: 'gpt-5', messages })).rejects.toThrow(
      OpenAI.NotFoundError,
    );
  });
});

describe('sandboxAnswer', () => {
  const streamed = {
    model: 'sandbox-1',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  };

  it('gives the same bytes for the same request', () => {
    expect(textOf(ask(streamed))).toBe(textOf(ask(streamed)));
  });

  it('sends one event a frame: the role, the words, the end, the usage, and [DONE]', () => {
    const frames = ask(streamed).frames.map(({ bytes }) => bytes.toString());

    expect(frames.every((frame) => frame.startsWith('data: ') && frame.endsWith('\n\n'))).toBe(true);
    expect(frames).toHaveLength(1 + 5 + 1 + 1 + 1);
    expect(frames[0]).toContain('"role":"assistant"');
    expect(frames[0]).toContain('"usage":null');
    expect(frames.at(-2)).toContain('"choices":[],"usage":{"prompt_tokens":3');
    expect(frames.at(-1)).toBe('data: [DONE]\n\n');
  });

  it('leaves usage out of a stream that did not request it', () => {
    expect(textOf(ask({ ...streamed, stream_options: undefined }))).not.toContain('usage');
  });

  it('reports a usage that the endpoint can read', () => {
    expect(chatCompletionsUsage.fromAnswer(jsonOf(ask({ ...streamed, stream: false })))).toEqual({
      input_tokens: 3,
      output_tokens: 5,
    });
  });

  it('makes only the slow model wait', () => {
    const waits = (model: string) => ask({ ...streamed, model }).frames.map(({ afterMs }) => afterMs);

    expect(new Set(waits('sandbox-1'))).toEqual(new Set([0]));
    expect(waits('sandbox-slow').slice(0, 3)).toEqual([2000, 100, 100]);
  });

  it.each([
    ['POST', '/embeddings', 404, 'The sandbox has no POST /embeddings'],
    ['GET', '/chat/completions', 404, 'The sandbox has no GET /chat/completions'],
    ['GET', '/models/gpt-5', 404, 'The sandbox has no model "gpt-5"'],
  ])('returns for %s %s status %i in the format of an OpenAI error', (method, path, status, message) => {
    const answer = ask({}, path, method);

    expect(answer.status).toBe(status);
    expect(jsonOf(answer).error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringContaining(message),
    });
  });

  it('does not mind a query', () => {
    expect(ask('', '/models?limit=1', 'GET').status).toBe(200);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no model', { messages: hello }],
    ['no messages', { model: 'sandbox-1', messages: [] }],
    ['a negative number of choices', { model: 'sandbox-1', messages: hello, n: -1 }],
    ['too many choices', { model: 'sandbox-1', messages: hello, n: 1e9 }],
  ])('refuses %s with 400', (_, body) => {
    expect(ask(body).status).toBe(400);
  });

  it('never returns more than the request justifies', () => {
    const long = 'word '.repeat(200_000);
    const schema = { type: 'object', properties: { text: { default: long } } };
    const answers = [
      ask({ model: 'sandbox-1', messages: [{ role: 'user', content: long }], n: 128 }),
      ask({
        model: 'sandbox-1',
        messages: hello,
        n: 128,
        response_format: { type: 'json_schema', json_schema: { schema } },
      }),
    ];

    for (const answer of answers) expect(textOf(answer).length).toBeLessThan(256 * 1024);
  });
});
