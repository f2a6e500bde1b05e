import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LLMock } from '@copilotkit/aimock';
import OpenAI, { toFile } from 'openai';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf, sha256 } from '../support/http-client.js';
import { header, type Received } from '../support/upstreams/echo.js';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { World } from '../support/world.js';

const run = promisify(execFile);
const PIXELS = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff, 0xfe, 0x80]);
const SPOKEN = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256));
const ask = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content }] });

let world: World;
let openAi: LLMock;
let virtualKey: string;

beforeAll(async () => {
  world = await World.create('chat');
  openAi = await simulatedOpenAi(world.service.facts.egressPorts);
  openAi
    .onToolResult('call_1', { content: 'It is sunny in Rome.' })
    .onMessage('weather', { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' }] })
    .onMessage('hello', {
      content: 'Good morning to you, whoever you are.',
      usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
    })
    .onSpeech(/./, { audio: SPOKEN.toString('base64'), format: 'mp3' })
    .onTranscription({ transcription: { text: 'spoken words' } })
    .onImage(/./, { image: { b64Json: PIXELS.toString('base64') } })
    .onEmbedding(/./, { embedding: [0.25, -0.5] });
  virtualKey = await world.administration.createVirtualKey({
    name: `${world.virtualKey}-openai`,
    secret: world.providerSecret,
    customHost: `${openAi.url}/v1`,
  });
});

afterAll(async () => {
  await openAi.stop();
  await world.close();
});

/** OpenAI's own client, with nothing changed but the base address and the headers. */
const openAiClient = (headers: Record<string, string> = {}, apiKey = 'unused') =>
  new OpenAI({
    apiKey,
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-virtual-key': virtualKey,
      ...headers,
    },
  });

/** Notes the request of a client that hides the answer's head. */
async function noted<T>(pending: {
  withResponse(): Promise<{ data: T; response: Response }>;
}): Promise<{ data: T; headers: Headers }> {
  const { data, response } = await pending.withResponse();
  world.note(response.headers.get('x-gateway-request-id') ?? '', 'once');
  return { data, headers: response.headers };
}

describe("OpenAI's client, unmodified", () => {
  it('gets a chat completion, and the gateway says which provider gave it', async () => {
    const { data, headers } = await noted(openAiClient().chat.completions.create(ask('hello')));
    expect(data.choices[0]?.message.content).toBe('Good morning to you, whoever you are.');
    expect(data.usage?.total_tokens).toBe(21);
    expect(headers.get('x-gateway-provider')).toBe('openai');
    expect(headers.get('x-gateway-trace-id')).toBeTruthy();
    expect(headers.get('x-gateway-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(headers.get('x-gateway-error-source')).toBeNull();
  });

  it('gets a stream with its usage', async () => {
    const { data } = await noted(
      openAiClient().chat.completions.create({
        ...ask('hello'),
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    let text = '';
    let total = 0;
    for await (const event of data) {
      text += event.choices[0]?.delta.content ?? '';
      total = event.usage?.total_tokens ?? total;
    }
    expect(text).toBe('Good morning to you, whoever you are.');
    expect(total).toBe(21);
  });

  it('calls tools and hands their results back', async () => {
    const client = openAiClient();
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'weather', parameters: { type: 'object', properties: {} } },
      },
    ];
    const first = await noted(client.chat.completions.create({ ...ask('How is the weather?'), tools }));
    const [choice] = first.data.choices;
    if (!choice) throw new Error('no choice');
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message.tool_calls?.[0]).toMatchObject({
      id: 'call_1',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    });
    const second = await noted(
      client.chat.completions.create({
        model: 'gpt-4o-mini',
        messages: [
          ...ask('How is the weather?').messages,
          choice.message,
          { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
        ],
        tools,
      }),
    );
    expect(second.data.choices[0]?.message.content).toBe('It is sunny in Rome.');
  });

  it('passes files, audio and images through as multipart and as bytes', async () => {
    const client = openAiClient();
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'say it' });
    world.note(speech.headers.get('x-gateway-request-id') ?? '', 'once');
    expect(sha256(Buffer.from(await speech.arrayBuffer()))).toBe(sha256(SPOKEN));

    const file = await toFile(SPOKEN, 'clip.mp3');
    const heard = await noted(client.audio.transcriptions.create({ model: 'whisper-1', file }));
    expect(heard.data.text).toBe('spoken words');

    const image = await noted(client.images.generate({ model: 'gpt-image-1', prompt: 'a gate' }));
    expect(image.data.data?.[0]?.b64_json).toBe(PIXELS.toString('base64'));

    const stored = await noted(
      client.files.create({ purpose: 'assistants', file: await toFile(PIXELS, 'pixels.png') }),
    );
    const content = await client.files.content(stored.data.id);
    world.note(content.headers.get('x-gateway-request-id') ?? '', 'once');
    expect(sha256(Buffer.from(await content.arrayBuffer()))).toBe(sha256(PIXELS));
  });

  it('gets embeddings and the list of models', async () => {
    const client = openAiClient();
    const { data } = await noted(
      client.embeddings.create({ model: 'text-embedding-3-small', input: 'x', encoding_format: 'float' }),
    );
    expect(data.data[0]?.embedding).toEqual([0.25, -0.5]);
    const models = await noted(client.models.list());
    expect(models.data.data.length).toBeGreaterThan(0);
  });

  it('works with nothing but a base address and the gateway key as its API key, when the model names its target', async () => {
    const client = new OpenAI({
      apiKey: world.apiKey.key,
      baseURL: `${world.service.baseUrl}/v1`,
      maxRetries: 0,
    });
    openAi.clearRequests();
    const { data } = await noted(
      client.chat.completions.create({ ...ask('hello'), model: `@${virtualKey}/gpt-4o-mini` }),
    );
    expect(data.choices[0]?.message.content).toBe('Good morning to you, whoever you are.');
    expect((openAi.getLastRequest()?.body as { model: string }).model).toBe('gpt-4o-mini');
  });

  it("reads a provider's refusal as the provider wrote it, marked as the provider's", async () => {
    openAi.nextRequestError(429, {
      message: 'Slow down, says the provider.',
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    });
    const refusal: unknown = await openAiClient()
      .chat.completions.create(ask('hello'))
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OpenAI.RateLimitError);
    const error = refusal as InstanceType<typeof OpenAI.RateLimitError>;
    world.note(error.headers.get('x-gateway-request-id') ?? '', 'once');
    expect(error.message).toContain('Slow down, says the provider.');
    expect(error.headers.get('x-gateway-error-source')).toBe('provider');
  });

  it("reads the gateway's refusal as an error of the API, marked as the gateway's", async () => {
    const client = openAiClient({ 'x-gateway-virtual-key': 'there-is-no-such-key' });
    const refusal: unknown = await client.chat.completions
      .create(ask('hello'))
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OpenAI.NotFoundError);
    const error = refusal as InstanceType<typeof OpenAI.NotFoundError>;
    world.note(error.headers.get('x-gateway-request-id') ?? '', 'once');
    expect(error.code).toBe('not_found');
    expect(error.headers.get('x-gateway-error-source')).toBe('gateway');
  });
});

/** portkey-ai, with nothing changed but the base address. */
const portkey = (options: Record<string, unknown>) =>
  new Portkey({ apiKey: world.apiKey.key, baseURL: `${world.service.baseUrl}/v1`, ...options });

interface WithHeaders {
  getHeaders(): Record<string, string>;
}

const noteOf = (result: unknown): Record<string, string> => {
  const headers = (result as WithHeaders).getHeaders();
  world.note(headers['request-id'] ?? '', 'once');
  return headers;
};

describe('portkey-ai, unmodified', () => {
  it('works with a virtual key and returns the headers in Gatehouse spelling', async () => {
    const result = await portkey({ virtualKey, traceID: 'trace-of-mine' }).chat.completions.create(
      ask('hello'),
    );
    expect(result.choices[0]?.message?.content).toBe('Good morning to you, whoever you are.');
    expect(noteOf(result)).toMatchObject({ provider: 'openai', 'trace-id': 'trace-of-mine' });
  });

  it('streams', async () => {
    const stream = await portkey({ virtualKey, traceID: world.newTrace() }).chat.completions.create({
      ...ask('hello'),
      stream: true,
    });
    let text = '';
    for await (const event of stream as unknown as AsyncIterable<{
      choices: { delta?: { content?: string } }[];
    }>)
      text += event.choices[0]?.delta?.content ?? '';
    expect(text).toBe('Good morning to you, whoever you are.');
  });

  it('works with a provider, its own key and a custom host, and no header of the gateway is forwarded', async () => {
    const client = portkey({
      provider: 'openai',
      Authorization: `Bearer ${world.clientSecret}`,
      customHost: `${world.upstream.url}/v1`,
      metadata: { _user: 'someone' },
    });
    world.upstream.on('/v1/chat/completions', {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'from afar' } }],
      }),
    });
    const result = await client.chat.completions.create(ask('hello'));
    noteOf(result);
    expect(result.choices[0]?.message?.content).toBe('from afar');
    const received = await world.upstream.only('/v1/chat/completions');
    expect(header(received, 'authorization')).toBe(`Bearer ${world.clientSecret}`);
    expect(gatewayHeadersOf(received)).toEqual([]);
    expect(JSON.parse(received.body.toString())).toEqual(ask('hello'));
  });

  it('works through the OpenAI client inside it: files go up byte for byte', async () => {
    const client = portkey({ virtualKey });
    const stored = await client.files.create({
      purpose: 'assistants',
      file: await toFile(PIXELS, 'pixels.png'),
    });
    noteOf(stored);
    const { id } = stored as unknown as { id: string };
    const content = await world.send({
      path: `/v1/files/${id}/content`,
      headers: { ...world.headers, 'x-gateway-virtual-key': virtualKey },
    });
    expect(content.sha256).toBe(sha256(PIXELS));
  });
});

const gatewayHeadersOf = ({ headers }: Received): string[] =>
  headers.map(([name]) => name.toLowerCase()).filter((name) => /^x-(gateway|portkey)-/.test(name));

describe('every way to choose a provider and to show the key', () => {
  const body = ask('hello');
  const path = '/v1/chat/completions';

  const works = async (headers: Record<string, string>, model = 'gpt-4o-mini'): Promise<void> => {
    const answer = await world.send({ method: 'POST', path, headers, body: { ...body, model } });
    expect(answer.body.toString()).toContain('Good morning');
    expect(answer.status).toBe(200);
  };

  it('works with Authorization: Bearer <gateway key>', () =>
    works({ authorization: `Bearer ${world.apiKey.key}`, 'x-gateway-virtual-key': virtualKey }));

  it('works with x-api-key: <gateway key>', () =>
    works({ 'x-api-key': world.apiKey.key, 'x-gateway-virtual-key': virtualKey }));

  it('works with x-portkey-* for every option, and returns both spellings', async () => {
    const answer = await world.send({
      method: 'POST',
      path,
      body,
      headers: {
        'x-portkey-api-key': world.apiKey.key,
        'x-portkey-virtual-key': virtualKey,
        'x-portkey-trace-id': 'trace-7',
      },
    });
    expect(answer.status).toBe(200);
    for (const name of ['trace-id', 'request-id', 'provider', 'retry-attempt-count', 'overhead-ms'])
      expect([name, answer.headers[`x-portkey-${name}`]]).toEqual([
        name,
        answer.headers[`x-gateway-${name}`],
      ]);
    expect(answer.headers['x-gateway-trace-id']).toBe('trace-7');
  });

  it('returns only Gatehouse spelling to callers that use it', async () => {
    const answer = await world.send({
      method: 'POST',
      path,
      body,
      headers: { ...world.headers, 'x-gateway-virtual-key': virtualKey },
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-portkey-'))).toEqual([]);
  });

  it('works with a model that names its virtual key', () =>
    works({ 'x-gateway-api-key': world.apiKey.key }, `@${virtualKey}/gpt-4o-mini`));

  it('works with provider, Authorization and custom host', () =>
    works(world.hostHeaders(`${openAi.url}/v1`)));

  it('works with the virtual key of a provider whose secret the client never sees', async () => {
    openAi.clearRequests();
    await works({ ...world.headers, 'x-gateway-virtual-key': virtualKey });
    expect(openAi.getLastRequest()?.headers['authorization']).not.toContain(world.apiKey.key);
    expect(JSON.stringify(openAi.getLastRequest()?.headers)).not.toContain(world.apiKey.key);
  });

  it('refuses a request that names no provider, and says how to name one', async () => {
    const answer = await world.send({
      method: 'POST',
      path,
      body,
      headers: { 'x-gateway-api-key': world.apiKey.key },
    });
    expect(answer.status).toBe(400);
    expect(jsonOf(answer).error).toMatchObject({
      code: 'provider_missing',
      type: 'invalid_request_error',
      param: null,
    });
  });

  it('serves the built-in sandbox provider without an account', async () => {
    const headers = { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-provider': 'sandbox' };
    const answer = await world.send({ method: 'POST', path, body: { ...body, model: 'sandbox-1' }, headers });
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' } }],
    });
  });

  it('works with curl', async () => {
    const { stdout } = await run('curl', [
      '-sS',
      '-i',
      `${world.service.baseUrl}${path}`,
      '-H',
      `x-gateway-api-key: ${world.apiKey.key}`,
      '-H',
      `x-gateway-virtual-key: ${virtualKey}`,
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify(body),
    ]);
    world.note(/x-gateway-request-id: (\S+)/i.exec(stdout)?.[1] ?? '', 'once');
    expect(stdout).toMatch(/^HTTP\/1\.1 200 /);
    expect(stdout).toContain('Good morning to you');
  });
});

describe('after all of this', () => {
  it('the log has one row per request and no others', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
