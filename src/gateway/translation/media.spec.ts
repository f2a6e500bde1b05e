import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { formFields } from '../ingress/form-fields.js';
import { boundaryOf } from '../ingress/multipart-scanner.js';

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({
    virtualKeys: {
      voices: 'elevenlabs',
      ears: 'deepgram',
      pictures: 'stability-ai',
      hub: 'huggingface',
    },
    ...wishes,
  }));
afterEach(() => gateway.close());

const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0xc3, 0x28, 0x0d, 0x0a]);
const JSON_TYPE = { 'content-type': 'application/json' };

const speak = (slug: string, body: object = {}): Promise<Response> =>
  gateway.request('/v1/audio/speech', {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-gateway-virtual-key': slug },
    body: JSON.stringify({ model: 'aura-2-thalia-en', input: 'Hello', voice: 'thalia', ...body }),
  });

/** `fields` after the file, as in OpenAI's client for Node, or before it, as in the one for Python. */
function transcribe(slug: string, fields: object, isFileFirst = true): Promise<Response> {
  const form = new FormData();
  const file = new File([SOUND], 'a.mp3', { type: 'audio/mpeg' });
  if (isFileFirst) form.append('file', file);
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  if (!isFileFirst) form.append('file', file);
  return gateway.request('/v1/audio/transcriptions', {
    method: 'POST',
    headers: { 'x-gateway-virtual-key': slug },
    body: form,
  });
}

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());
const headerOf = (headers: readonly string[], name: string): string | undefined =>
  headers[headers.indexOf(name) + 1];

const HEARD = JSON.stringify({
  metadata: { duration: 2.5 },
  results: { channels: [{ alternatives: [{ transcript: 'Hello.', words: [] }] }] },
});

describe('speech of a provider with words of its own', () => {
  it('comes to the client byte for byte', async () => {
    const { calls, logged } = await given({
      answers: [
        { headers: { 'content-type': 'audio/mpeg' }, chunks: [SOUND.subarray(0, 4), SOUND.subarray(4)] },
      ],
    });
    const answer = await speak('ears');

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(await bytesOf(answer)).toEqual(SOUND);
    expect(calls[0]).toMatchObject({ path: '/v1/speak?model=aura-2-thalia-en&encoding=mp3' });
    expect(String(calls[0]?.body as Buffer)).toBe('{"text":"Hello"}');
    expect(await logged()).toMatchObject({ provider: 'deepgram', endpoint: 'speech', ending: 'completed' });
  });

  it('is refused in the words of OpenAI where the provider refuses', async () => {
    const refusal = JSON.stringify({ err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' });
    await given({ answers: [{ status: 401, headers: JSON_TYPE, chunks: [refusal] }] });
    const answer = await speak('ears');

    expect([answer.status, await answer.json()]).toEqual([
      401,
      {
        error: {
          message: 'Invalid credentials.',
          type: 'authentication_error',
          code: 'invalid_api_key',
          param: null,
        },
      },
    ]);
  });

  it('is not requested in a way that the provider does not support', async () => {
    const { calls } = await given({});
    const answer = await speak('voices', { voice: 'v', stream_format: 'sse' });

    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('stream_format')]);
    expect(calls).toEqual([]);
  });
});

describe('a form for a provider with words of its own', () => {
  it.each([true, false])(
    'is sent as the sound alone, the model known (file first: %s)',
    async (isFileFirst) => {
      const { calls, logged } = await given({ answers: [{ headers: JSON_TYPE, chunks: [HEARD] }] });
      const answer = await transcribe('ears', { model: 'nova-3' }, isFileFirst);

      expect(await answer.json()).toEqual({ text: 'Hello.', usage: { type: 'duration', seconds: 2.5 } });
      expect(calls[0]?.path).toBe('/v1/listen?model=nova-3&smart_format=true');
      expect(headerOf(calls[0]?.headers ?? [], 'content-type')).toBe('audio/mpeg');
      expect(calls[0]?.body).toEqual(SOUND);
      expect(await logged()).toMatchObject({
        model: 'nova-3',
        provider: 'deepgram',
        usage: { audio_input_ms: 2500 },
      });
    },
  );

  it('is rewritten as a form where the provider takes one, with the file unchanged', async () => {
    const { calls } = await given({
      answers: [{ headers: JSON_TYPE, chunks: ['{"text":"Hi","words":[]}'] }],
    });
    const answer = await transcribe('voices', { model: 'scribe_v1', response_format: 'text' });

    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
      'text/plain; charset=utf-8',
      'Hi\n',
    ]);
    const { headers = [], body } = calls[0] ?? {};
    const boundary = boundaryOf(headerOf(headers, 'content-type')) ?? '';
    expect(formFields(body as Buffer, boundary)).toMatchObject({
      model_id: 'scribe_v1',
      file: { contentType: 'audio/mpeg', fileName: 'a.mp3', bytes: SOUND },
    });
  });

  it('goes to the next target of a fallback as it came, and from there to one that needs it whole', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'ears' }],
    };
    const { calls } = await given({
      configs: { both: config },
      answers: [{ status: 500 }, { headers: JSON_TYPE, chunks: [HEARD] }],
    });
    const form = new FormData();
    form.append('model', 'nova-3');
    form.append('file', new File([SOUND], 'a.mp3', { type: 'audio/mpeg' }));
    const bytes = Buffer.from(await new Response(form).arrayBuffer());
    const boundary = /^--([^\r]+)/.exec(bytes.toString('latin1'))?.[1] ?? '';
    const answer = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'x-gateway-config': 'both', 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: bytes,
    });

    expect(await answer.json()).toMatchObject({ text: 'Hello.' });
    expect(calls.map(({ body }) => body)).toEqual([bytes, SOUND]);
  });

  it('is refused where it is larger than a body may be', async () => {
    const { calls } = await given({ settings: { GATEHOUSE_BODY_LIMIT_BYTES: '2048' } });
    const form = new FormData();
    form.append('model', 'nova-3');
    form.append('file', new File([Buffer.alloc(8_192)], 'a.mp3'));
    const answer = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'x-gateway-virtual-key': 'ears' },
      body: form,
    });

    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('body_too_large')]);
    expect(calls).toEqual([]);
  });

  it.each([
    [{ providers: new Set(['openai']), models: null }, 'provider_not_allowed'],
    [{ providers: null, models: new Set(['whisper-1']) }, 'model_not_allowed'],
  ])('is not read where what came before the file is not allowed: %#', async (allowed, code) => {
    const caller = aCaller({ policy: { ...allowed, keepsBodies: true, needsLog: false } });
    const { calls } = await given({ caller, settings: { GATEHOUSE_BODY_LIMIT_BYTES: '2048' } });
    const form = new FormData();
    form.append('model', 'nova-3');
    form.append('file', new File([Buffer.alloc(8_192)], 'a.mp3'));
    const answer = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'x-gateway-virtual-key': 'ears' },
      body: form,
    });

    // Read to its end, it would have been too large.
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(code)]);
    expect(calls).toEqual([]);
  });

  it('is judged by a model that comes behind the file when it has come', async () => {
    const policy = { providers: null, models: new Set(['nova-2']), keepsBodies: true, needsLog: false };
    const { calls } = await given({ caller: aCaller({ policy }) });
    const answer = await transcribe('ears', { model: 'nova-3' });

    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('model_not_allowed')]);
    expect(calls).toEqual([]);
  });

  it('passes whatever its size where the provider takes it as it is', async () => {
    const { calls } = await given({ settings: { GATEHOUSE_BODY_LIMIT_BYTES: '2048' } });
    const form = new FormData();
    form.append('model', 'whisper-1');
    form.append('file', new File([Buffer.alloc(8_192)], 'a.mp3'));
    const answer = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'x-gateway-virtual-key': 'openai-prod' },
      body: form,
    });

    expect([answer.status, calls.length]).toEqual([200, 1]);
  });

  it('must be a form', async () => {
    await given({});
    const answer = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'ears' },
      body: '{"model":"nova-3"}',
    });

    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('multipart form')]);
  });
});

describe('images of a provider with parameters of its own', () => {
  it('are requested with a form and returned in JSON', async () => {
    const told = '{"image":"AAAA","finish_reason":"SUCCESS","seed":1}';
    const { calls } = await given({ answers: [{ headers: JSON_TYPE, chunks: [told] }] });
    const answer = await gateway.request('/v1/images/generations', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'pictures' },
      body: '{"model":"stable-image-core","prompt":"a lighthouse"}',
    });

    expect(await answer.json()).toEqual({
      created: expect.any(Number) as number,
      data: [{ b64_json: 'AAAA' }],
    });
    expect(headerOf(calls[0]?.headers ?? [], 'content-type')).toMatch(/^multipart\/form-data; boundary=/);
  });

  it('may come as they are, and from beside the base URL', async () => {
    const picture = { headers: { 'content-type': 'image/png' }, chunks: [SOUND] };
    const { calls } = await given({ answers: [picture] });
    const answer = await gateway.request('/v1/images/generations', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'hub' },
      body: '{"model":"ByteDance/Hyper-SD","prompt":"a lighthouse"}',
    });

    expect(await answer.json()).toMatchObject({ data: [{ b64_json: SOUND.toString('base64') }] });
    expect(calls[0]?.path).toBe('/hf-inference/models/ByteDance/Hyper-SD');
  });

  it("are requested from a caller's own host in the caller's format", async () => {
    const { calls } = await given({ settings: { GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:9' } });
    await gateway.request('/v1/embeddings', {
      method: 'POST',
      headers: {
        ...JSON_TYPE,
        'x-gateway-provider': 'huggingface',
        'x-gateway-custom-host': 'http://127.0.0.1:9/v1',
        authorization: 'Bearer mine',
      },
      body: '{"model":"tei","input":"a"}',
    });

    expect(calls[0]?.path).toBe('/v1/embeddings');
    expect(String(calls[0]?.body as Buffer)).toBe('{"model":"tei","input":"a"}');
  });
});
