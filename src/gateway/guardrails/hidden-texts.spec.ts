import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

const DENYING = { 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true };
const REDACTING = { 'default.pii': { redact: true } };
const JSON_TYPE = { 'content-type': 'application/json' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

interface ExchangeWish {
  readonly path?: string;
  readonly provider?: string;
  readonly body: object | string;
  readonly input?: object;
  readonly output?: object;
  readonly answer?: object | string;
  readonly headers?: Record<string, string>;
}

async function exchange({ path, provider, body, input, output, answer, headers }: ExchangeWish) {
  const chunks = [typeof answer === 'string' ? answer : JSON.stringify(answer ?? { choices: [] })];
  gateway = await aGateway({ answers: [{ headers: JSON_TYPE, chunks }] });
  const config = {
    ...(input && { input_guardrails: [input] }),
    ...(output && { output_guardrails: [output] }),
  };
  const response = await gateway.request(`/v1${path ?? '/chat/completions'}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      ...JSON_TYPE,
      authorization: 'Bearer provider-key',
      'x-gateway-provider': provider ?? 'openai',
      'x-gateway-config': JSON.stringify(config),
      ...headers,
    },
  });
  const text = await response.text();
  const sent = gateway.calls[0]?.body as Buffer | undefined;
  return { status: response.status, text, sent: sent?.toString() ?? null };
}

const nested = (levels: number, inner: unknown): unknown => {
  let value = inner;
  for (let depth = 0; depth < levels; depth++) value = { type: 'object', properties: { a: value } };
  return value;
};

describe('a deep body', () => {
  const chat = { model: 'm', messages: [{ role: 'user', content: 'Apollo, or joe@example.com' }] };
  const tool = (parameters: unknown) => ({
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
  });

  it.each([100, 300, 900])('is read with a schema of %i nested objects', async (levels) => {
    const schema = nested(levels, { type: 'string', description: 'an Apollo' });
    const elsewhere = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await exchange({ body: { ...chat, ...tool(nested(levels, {})) }, input: DENYING })).status).toBe(
      446,
    );
    await gateway?.close();
    expect((await exchange({ body: { ...elsewhere, ...tool(schema) }, input: DENYING })).status).toBe(446);
  });

  it('is redacted at every depth, and its other numbers keep their digits', async () => {
    const schema = nested(300, { type: 'string', description: 'joe@example.com' });
    const text = JSON.stringify({ ...chat, seed: 1, ...tool(schema) }).replace(
      '"seed":1',
      '"seed":12345678901234567890',
    );
    const { status, sent } = await exchange({ body: text, input: REDACTING });

    expect(status).toBe(200);
    expect(sent).not.toContain('joe@');
    expect(sent?.match(/EMAIL_ADDRESS_1/g)).toHaveLength(2);
    expect(sent).toContain('12345678901234567890');
  });

  it('is read in a response, too', async () => {
    const answer = `{"choices":[{"message":{"content":"Apollo"}}],"x":${'['.repeat(500)}${']'.repeat(500)}}`;
    expect((await exchange({ body: chat, output: DENYING, answer })).status).toBe(446);
  });
});

describe('a text file that the translation unpacks', () => {
  const file = (value: object) => ({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'file', file: value }] }],
  });
  const FILES = [
    { filename: 'a.txt', file_data: base64('the Apollo plan of joe@example.com') },
    { filename: 'a.csv', file_data: base64('the Apollo plan of joe@example.com') },
    { file_data: `data:;base64,${base64('the Apollo plan of joe@example.com')}` },
    { file_data: 'data:text/plain,the%20%41pollo plan of joe%40example.com' },
    {
      filename: 'a.txt',
      mime_type: 'application/octet-stream',
      file_data: base64('Apollo, joe@example.com, and more'),
    },
  ];

  it.each(['anthropic', 'google', 'openai'])(
    'is denied for what it says before it goes to %s',
    async (provider) => {
      for (const one of FILES) {
        expect((await exchange({ provider, body: file(one), input: DENYING })).status).toBe(446);
        await gateway?.close();
      }
    },
  );

  it('reaches Anthropic as the text that was redacted', async () => {
    for (const one of FILES) {
      const { sent } = await exchange({ provider: 'anthropic', body: file(one), input: REDACTING });
      expect(sent).toMatch(/Apollo.*\{\{EMAIL_ADDRESS_1\}\}/);
      expect(sent).not.toContain('joe');
      await gateway?.close();
    }
  });

  it('is decoded from a data URL without base64, by every translation', async () => {
    for (const provider of ['anthropic', 'google']) {
      const body = file({ file_data: 'data:text/plain,the%20%41pollo' });
      const { sent } = await exchange({
        provider,
        body,
        input: { 'default.modelwhitelist': { models: ['m'] } },
      });
      expect(sent ?? '').toMatch(provider === 'google' ? base64('the Apollo') : /"data":"the Apollo"/);
      await gateway?.close();
    }
  });

  it('is denied as an input of the responses endpoint', async () => {
    const input = [{ role: 'user', content: [{ type: 'input_file', ...FILES[0] }] }];
    expect((await exchange({ path: '/responses', body: { model: 'm', input }, input: DENYING })).status).toBe(
      446,
    );
  });
});

describe('a prompt of token numbers', () => {
  it.each([
    ['/completions', { model: 'm', prompt: [2185, 385] }],
    ['/completions', { model: 'm', prompt: [[2185, 385]] }],
    ['/embeddings', { model: 'm', input: [2185, 385] }],
    ['/embeddings', { model: 'm', input: [[2185], [385]] }],
  ])('is refused at %s: %j', async (path, body) => {
    for (const input of [DENYING, REDACTING]) {
      const { status, text, sent } = await exchange({ path, body, input });
      expect([status, sent]).toEqual([415, null]);
      expect(text).toContain('token numbers');
      await gateway?.close();
    }
  });

  it('passes unchanged without a guardrail that must read it', async () => {
    const body = { model: 'm', prompt: [2185, 385] };
    const { status, sent } = await exchange({
      path: '/completions',
      body,
      input: { 'default.modelwhitelist': { models: ['m'] } },
    });
    expect([status, sent]).toEqual([200, JSON.stringify(body)]);
  });
});

const text = (type: string, ...texts: string[]) => texts.map((one) => ({ type, text: one }));

type HiddenTextRequest = [path: string, provider: string, body: (...texts: string[]) => object];
/** Messages of the user, with an item without a text after each. */
const around = (silent: object, texts: readonly string[]) =>
  texts.flatMap((content) => [{ role: 'user', content }, silent]);

describe('a text that is cut over neighbouring parts', () => {
  const REQUESTS: HiddenTextRequest[] = [
    [
      '/chat/completions',
      'openai',
      (...texts) => ({ model: 'm', messages: [{ role: 'user', content: text('text', ...texts) }] }),
    ],
    [
      '/messages',
      'anthropic',
      (...texts) => ({
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: text('text', ...texts) }],
      }),
    ],
    [
      '/messages',
      'anthropic',
      (...texts) => ({ model: 'm', max_tokens: 9, system: text('text', ...texts), messages: [] }),
    ],
    [
      '/v1beta/models/m:generateContent',
      'google',
      (...texts) => ({ contents: [{ role: 'user', parts: texts.map((one) => ({ text: one })) }] }),
    ],
    [
      '/responses',
      'openai',
      (...texts) => ({ model: 'm', input: [{ role: 'user', content: text('input_text', ...texts) }] }),
    ],
    [
      '/chat/completions',
      'openai',
      (...texts) => ({ model: 'm', messages: texts.map((content) => ({ role: 'user', content })) }),
    ],
    [
      '/v1beta/interactions',
      'google',
      (...texts) => ({
        model: 'm',
        input: texts.map((one) => ({ type: 'user_input', content: text('text', one) })),
      }),
    ],
    [
      '/v1beta/interactions',
      'google',
      (result, ...texts) => ({
        model: 'm',
        input: [
          { type: 'function_result', call_id: 'c', result },
          { type: 'user_input', content: text('text', ...texts) },
        ],
      }),
    ],
    [
      '/v1beta/models/m:generateContent',
      'google',
      (output, ...texts) => ({
        contents: [
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'f', response: { output } } },
              ...texts.map((one) => ({ text: one })),
            ],
          },
        ],
      }),
    ],
    [
      '/chat/completions',
      'openai',
      (...texts) => ({ model: 'm', messages: around({ role: 'assistant', content: '' }, texts) }),
    ],
    [
      '/messages',
      'anthropic',
      (...texts) => ({
        ...{ model: 'm', max_tokens: 9 },
        messages: around({ role: 'assistant', content: [] }, texts),
      }),
    ],
    ...['/responses', '/responses/compact'].map((path): HiddenTextRequest => [
      path,
      'openai',
      (...texts) => ({
        model: 'm',
        input: around({ type: 'reasoning', summary: [], encrypted_content: 'x' }, texts),
      }),
    ]),
    [
      '/v1beta/models/m:generateContent',
      'google',
      (...texts) => ({
        contents: texts.flatMap((one) => [
          { role: 'user', parts: [{ text: one }] },
          { role: 'model', parts: [] },
        ]),
      }),
    ],
    [
      '/chat/completions',
      'openai',
      (...texts) => ({
        model: 'm',
        messages: texts.flatMap((content) => [
          { role: 'system', content },
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y' },
        ]),
      }),
    ],
    [
      '/responses',
      'openai',
      (first, ...more) => ({
        model: 'm',
        input: more.map((content) => ({ role: 'developer', content })),
        instructions: first,
      }),
    ],
    [
      '/completions',
      'openai',
      (first, second, ...more) => ({
        model: 'm',
        suffix: second,
        prompt: first,
        ...(more.length > 0 && { prompt: [first, second, ...more.slice(0, -1)], suffix: more.at(-1) }),
      }),
    ],
  ];

  it.each(REQUESTS)('is denied at %s', async (path, provider, body) => {
    expect(
      (await exchange({ path, provider, body: body('the Apo', 'llo plan'), input: DENYING })).status,
    ).toBe(446);
  });

  it.each(REQUESTS)('is redacted at %s, part by part', async (path, provider, body) => {
    const asked = body('ask joe@exam', 'ple', '.com, or jane@example.com', 'now');
    const { status, sent } = await exchange({ path, provider, body: asked, input: REDACTING });

    expect(status).toBe(200);
    const expected = body('ask {{EMAIL_ADDRESS_1}}', '', ', or {{EMAIL_ADDRESS_2}}', 'now');
    expect(JSON.parse(sent ?? '')).toEqual(expected);
  });

  it.each<[string, string, object]>([
    ['/messages', 'anthropic', { content: text('text', 'the Apo', 'llo of joe@exam', 'ple.com') }],
    [
      '/chat/completions',
      'openai',
      { choices: [{ message: { content: text('text', 'the Apo', 'llo of joe@exam', 'ple.com') } }] },
    ],
    [
      '/responses',
      'openai',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: text('output_text', 'the Apo', 'llo of joe@exam', 'ple.com'),
          },
        ],
      },
    ],
    [
      '/v1beta/models/m:generateContent',
      'google',
      {
        candidates: [
          { content: { parts: ['the Apo', 'llo of joe@exam', 'ple.com'].map((one) => ({ text: one })) } },
        ],
      },
    ],
    [
      '/v1beta/interactions',
      'google',
      {
        steps: ['the Apo', 'llo of joe@exam', 'ple.com'].map((one) => ({
          ...{ type: 'model_output', content: text('text', one) },
        })),
      },
    ],
  ])('is found in a response of %s', async (path, provider, answer) => {
    const body = { model: 'm', max_tokens: 9, messages: [], input: 'a', contents: [] };
    expect((await exchange({ path, provider, body, output: DENYING, answer })).status).toBe(446);
    await gateway?.close();
    const redacted = await exchange({ path, provider, body, output: REDACTING, answer });
    expect([redacted.status, redacted.text.includes('joe@'), redacted.text.includes('ple.com')]).toEqual([
      200,
      false,
      false,
    ]);
    expect(redacted.text).toContain('EMAIL_ADDRESS_1');
  });

  it('is not found over a change of speakers', async () => {
    const messages = [
      { role: 'user', content: 'the Apo' },
      { role: 'assistant', content: 'llo' },
    ];
    expect((await exchange({ body: { model: 'm', messages }, input: DENYING })).status).toBe(200);
  });
});

describe('a multipart form', () => {
  const form = (...parts: string[]) => `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`;
  const field = (value: string, more = '') =>
    `content-disposition: form-data; name="prompt"${more}\r\n\r\n${value}`;
  const asked = (body: string, input: object = DENYING) =>
    exchange({
      ...{ path: '/images/edits', body, input, answer: { data: [] } },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });

  it.each([
    ['a field in UTF-16', field('A\0p\0o\0l\0l\0o\0'), 415],
    [
      'a field that declares another charset',
      field('+AEE-pollo', '\r\ncontent-type: text/plain; charset=utf-7'),
      415,
    ],
    ['a default charset', 'content-disposition: form-data; name="_charset_"\r\n\r\nutf-16', 415],
    ['a transfer encoding', field(base64('Apollo'), '\r\ncontent-transfer-encoding: base64'), 415],
    [
      'an extended file name',
      'content-disposition: form-data; name="image"; filename*=UTF-8\'\'%41pollo.png\r\n\r\n\x01',
      446,
    ],
    [
      'a second file name',
      'content-disposition: form-data; name="image"; filename="a.png"; filename*=UTF-8\'\'%41pollo.png\r\n\r\n\x01',
      446,
    ],
  ])('does not hide a text in %s', async (_, part, expected) => {
    const { status, sent } = await asked(form(part));
    expect([status, sent]).toEqual([expected, null]);
  });

  it('with a file name that would be redacted is refused', async () => {
    const part = 'content-disposition: form-data; name="image"; filename="joe@example.com.png"\r\n\r\n\x01';
    expect((await asked(form(part), REDACTING)).status).toBe(415);
  });

  it('passes with plain declarations', async () => {
    const part = field(
      'fine',
      '\r\ncontent-type: text/plain; charset="UTF-8"\r\ncontent-transfer-encoding: binary',
    );
    expect((await asked(form(part))).status).toBe(200);
  });
});
