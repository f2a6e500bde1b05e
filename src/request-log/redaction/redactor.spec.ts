import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { Redactor } from './redactor.js';

const EMAIL = String.raw`[\w.]+@[\w.]+\.\w+`;

interface BodyDescription {
  readonly type?: string | null;
  readonly encoding?: string;
  readonly truncated?: boolean;
}

function kept(rules: LogRedaction, body: unknown, said: BodyDescription = {}): string | null {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const facts = {
    bytes: bytes.length,
    truncated: said.truncated ?? false,
    content_type: said.type === undefined ? 'application/json' : said.type,
    content_encoding: said.encoding ?? null,
  };
  return new Redactor([rules]).body({ facts, bytes })?.bytes.toString() ?? null;
}

describe('a JSON path', () => {
  const body = {
    user: { email: 'a@b.co', tags: ['x', 'y'] },
    messages: [{ content: 'one' }, { content: { deep: 2 } }],
    'a b': 1,
  };
  it.each([
    ['$.user.email', { ...body, user: { ...body.user, email: '***' } }],
    ['$.messages[*].content', { ...body, messages: [{ content: '***' }, { content: '***' }] }],
    ['$.messages[1]', { ...body, messages: [{ content: 'one' }, '***'] }],
    ["$['a b']", { ...body, 'a b': '***' }],
    ['$..content', { ...body, messages: [{ content: '***' }, { content: '***' }] }],
    ['$..tags[0]', { ...body, user: { ...body.user, tags: ['***', 'y'] } }],
    ['$.user.*', { ...body, user: { email: '***', tags: '***' } }],
    [
      '$..[1]',
      { ...body, user: { ...body.user, tags: ['x', '***'] }, messages: [{ content: 'one' }, '***'] },
    ],
    ['$.absent.email', body],
  ])('%s', (path, expected) => {
    expect(JSON.parse(kept({ json_paths: [path] }, body) as string)).toEqual(expected);
  });

  it('leaves every byte as it is where it leads to nothing', () => {
    const text = '{ "a": 1.0, "id": 12345678901234567890 }';
    expect(kept({ json_paths: ['$.b'] }, text)).toBe(text);
  });

  it('lets nothing through that cannot be judged: broken, cut off or too deep', () => {
    const rules = { json_paths: ['$.b'] };
    expect(kept(rules, '{"b": "secr')).toBeNull();
    expect(kept(rules, ')]}\n{"b": "secret"}')).toBeNull();
    expect(kept(rules, '{"b": "secret"}', { truncated: true })).toBeNull();
    expect(kept(rules, `${'['.repeat(5_000)}${']'.repeat(5_000)}`)).toBeNull();
  });

  it('takes no longer for paths that search every depth again and again', () => {
    const deep = `${'{"a":'.repeat(190)}1${'}'.repeat(190)}`;
    expect(kept({ json_paths: [`$${'..*'.repeat(31)}..b`] }, deep)).toBe(deep);
  });

  it('reaches no prototype', () => {
    expect(kept({ json_paths: ['$.__proto__'] }, '{"__proto__":{"x":1},"y":2}')).toBe(
      '{"__proto__":"***","y":2}',
    );
  });
});

describe('a pattern', () => {
  it('is found in texts as they are read, escapes or not, in names and in numbers', () => {
    expect(kept({ patterns: [EMAIL] }, String.raw`{"a\u0040b.co":"to c\u0040d.co, \"e@f.co\"","n": 1}`)).toBe(
      String.raw`{"***":"to ***, \"***\"","n": 1}`,
    );
    expect(kept({ patterns: [String.raw`\d{16}`] }, '{"card": 4111111111111111}')).toBe('{"card": "***"}');
  });

  it('leaves the rest as it was, to the byte', () => {
    const text = '{ "a": 1.0,\n "t": "é \\u00e9", "m": "x@y.zz" }';
    expect(kept({ patterns: [EMAIL] }, text)).toBe(text.replace('x@y.zz', '***'));
  });

  it('is found in what is left of a long body', () => {
    expect(kept({ patterns: [EMAIL] }, '{"a":"x@y.zz", "b":"cut of', { truncated: true })).toBe(
      '{"a":"***", "b":"cut of',
    );
  });

  it('is found in plain text, headers and paths', () => {
    const redactor = new Redactor([{ patterns: [EMAIL], headers: ['X-Customer'] }]);
    expect(kept({ patterns: [EMAIL] }, 'mail x@y.zz now', { type: 'text/plain' })).toBe('mail *** now');
    expect(redactor.headers(['x-customer', '7', 'From', 'x@y.zz', 'Accept', '*/*'])).toEqual([
      'x-customer',
      '***',
      'From',
      '***',
      'Accept',
      '*/*',
    ]);
    expect(redactor.text('/v1/people?mail=x@y.zz')).toBe('/v1/people?mail=***');
    expect(redactor.json({ found: ['x@y.zz'], number: 1 })).toEqual({ found: ['***'], number: 1 });
  });

  it('is found under gzip and Brotli, and what cannot be read is not kept', () => {
    const text = '{"a":"x@y.zz"}';
    expect(kept({ patterns: [EMAIL] }, gzipSync(text), { encoding: 'gzip' })).toBe('{"a":"***"}');
    expect(kept({ patterns: [EMAIL] }, brotliCompressSync(text), { encoding: 'br' })).toBe('{"a":"***"}');
    expect(kept({ patterns: [EMAIL] }, text, { encoding: 'compress' })).toBeNull();
    expect(kept({ patterns: [EMAIL] }, text, { type: 'multipart/form-data; boundary=x' })).toBeNull();
    expect(kept({ patterns: [EMAIL] }, Buffer.from([0x22, 0xff, 0xfe]), { type: null })).toBeNull();
  });

  it('costs nothing where there is none', () => {
    const body = Buffer.from([0xff]);
    expect(kept({ headers: ['x'] }, body, { type: 'audio/wav' })).toBe(body.toString());
  });
});

describe('a stream', () => {
  const chunk = (delta: object, index = 0) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ delta, index }] })}\n\n`;
  const said = { type: 'text/event-stream' };
  const texts = (stream: string | null, index = 0) =>
    [...(stream ?? '').matchAll(/^data: (\{.*\})$/gm)]
      .map(([, json]) => JSON.parse(json as string).choices[0])
      .filter((choice) => choice.index === index)
      .map((choice) => choice.delta.content ?? '')
      .join('');

  it('hides what came in pieces', () => {
    const stream = ['Write to ', 'a', 'd', 'a.l', 'ove', 'lace@ex', 'ample.org', ' today'].map((content) =>
      chunk({ content }),
    );
    const clear = kept({ patterns: [EMAIL] }, `${stream.join('')}data: [DONE]\n\n`, said);
    expect(texts(clear)).toBe('Write to *** today');
    expect(clear).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('separates responses whose chunks alternate', () => {
    const stream = [
      chunk({ content: 'a@b' }),
      chunk({ content: 'c@d' }, 1),
      chunk({ content: '.org' }),
      chunk({ content: '.com!' }, 1),
    ];
    const clear = kept({ patterns: [EMAIL] }, stream.join(''), said);
    expect([texts(clear), texts(clear, 1)]).toEqual(['***', '***!']);
  });

  it('hides places in every event, and leaves other events as they were', () => {
    const stream = `event: x\ndata: {"a": 1.0}\n\ndata: {"a": 1.0, "delta": {"text": "secret"}}\n\ndata: [DONE]\n\n`;
    expect(kept({ json_paths: ['$..text'] }, stream, said)).toBe(
      'event: x\ndata: {"a": 1.0}\n\ndata: {"a":1,"delta":{"text":"***"}}\n\ndata: [DONE]\n\n',
    );
  });

  it('hides the event in the middle that is not whole', () => {
    const stream = `data: {"text":"a"}\ndata: {"text":"secr"tail"}\ndata: {"text":"b"}\n`;
    expect(kept({ json_paths: ['$.text'] }, stream, { ...said, truncated: true })).toBe(
      'data: {"text":"***"}\ndata: "***"\ndata: {"text":"***"}\n',
    );
    expect(kept({ json_paths: ['$.text'] }, stream, said)).toBeNull();
  });

  it('may be lines of JSON', () => {
    const stream = '{"message":{"content":"x@"}}\n{"message":{"content":"y.zz"}}\n';
    expect(kept({ patterns: [EMAIL] }, stream, { type: 'application/x-ndjson' })).toBe(
      '{"message":{"content":"***"}}\n{"message":{"content":""}}\n',
    );
    expect(kept({ json_paths: ['$.b'] }, 'data:  {"b":1}\n\n  {"b":2}\n', said)).toBe(
      'data:  {"b":"***"}\n\n  {"b":"***"}\n',
    );
  });

  const CARD = String.raw`\b\d{4}-\d{4}-\d{4}-\d{4}\b`;

  it('hides the whole text of each event, whatever its neighbours have at the same place', () => {
    const lines = ['1111-2222-3333-4444', '5555-6666-7777-8888'].map((card) => JSON.stringify({ card }));
    expect(kept({ patterns: [CARD] }, `${lines.join('\n')}\n`, { type: 'application/x-ndjson' })).toBe(
      '{"card":"***"}\n{"card":"***"}\n',
    );
    const repeated = ['{"n":4111111111111111}', '{"n":4111111111111111}'].map((json) => `data: ${json}\n\n`);
    expect(kept({ patterns: [String.raw`\b\d{16}\b`] }, repeated.join(''), said)).toBe(
      'data: {"n":"***"}\n\ndata: {"n":"***"}\n\n',
    );
    expect(
      kept({ patterns: [EMAIL] }, 'data: {"to":"a@b.co"}\n\ndata: {"to":"c@d.co"}\n\n', said),
    ).not.toMatch(/[abcd]@|@[bd]|\.co/);
  });

  it('hides names of fields', () => {
    expect(kept({ patterns: [EMAIL] }, 'data: {"seen":{"a@b.co":1, "x":2.0}}\n\n', said)).toBe(
      'data: {"seen":{"***":1, "x":2.0}}\n\n',
    );
    expect(kept({ patterns: [EMAIL] }, 'data: {"a@b.co":{"to":"c@d.co"}}\n\n', said)).toBe(
      'data: {"***":{"to":"***"}}\n\n',
    );
  });

  it('may begin with a byte order mark', () => {
    expect(kept({ json_paths: ['$.b'] }, '\uFEFFdata: {"b":1}\n\ndata: {"b":2}\n\n', said)).toBe(
      '\uFEFFdata: {"b":"***"}\n\ndata: {"b":"***"}\n\n',
    );
  });
});
