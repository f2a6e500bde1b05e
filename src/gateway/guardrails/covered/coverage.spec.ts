import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  aCaller,
  aGateway,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../../test/support/gateway.js';
import { coverageTable } from './coverage-table.js';
import { ENDPOINT_IDS, type EndpointId, type EndpointOperation } from '../../../providers/endpoint.js';
import { endpoints } from '../../../providers/endpoints/index.js';
import { readHook } from '../../../routing-config/guardrails/read-hooks.js';
import { DocumentPath } from '../../../routing-config/document-path.js';
import type { GuardrailSnapshot } from '../../ports.js';
import { ENDPOINT_TEXTS } from '../texts/endpoint-texts.js';
import { coverageOf } from './coverage.js';
import { ENDPOINT_COVERAGE } from './endpoint-coverage.js';
import { storedCoverage } from './stored-coverage.js';

function guardrail(id: string, written: object): GuardrailSnapshot {
  const place = DocumentPath.root([], 'hook');
  const spec = readHook(written, place, { side: 'output', type: 'guardrail', id: `pg-${id}` });
  if (!spec) throw new Error(id);
  return { id: `00000000-0000-7000-8000-${id.padStart(12, '0')}`, spec };
}
const STORED = {
  'pg-1': guardrail('1', { 'default.contains': { operator: 'none', words: ['Zeus'] }, deny: true }),
  'pg-2': guardrail('2', { 'default.pii': { redact: true } }),
  'pg-3': guardrail('3', { 'default.contains': { operator: 'all', words: ['Disclaimer'] }, deny: true }),
};
const DENYING = {
  output_guardrails: [{ 'default.contains': { operator: 'none', words: ['Zeus'] }, deny: true }],
};

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

interface CoveredRequest {
  readonly operation: EndpointOperation | { readonly method: string; readonly path: string };
  readonly answer: ScriptedAnswer;
  /** Stored guardrails that the workspace imposes on responses. */
  readonly imposed?: readonly string[];
  readonly input?: readonly string[];
  readonly config?: object;
  readonly provider?: string;
  readonly body?: string | null;
  readonly range?: string;
}

async function ask({
  operation,
  answer,
  imposed = [],
  input = [],
  config,
  provider = 'openai',
  ...sending
}: CoveredRequest) {
  const { body, range } = sending;
  gateway = await aGateway({
    ...(imposed.length + input.length > 0 && {
      caller: aCaller({ guardrails: { input_guardrails: [...input], output_guardrails: [...imposed] } }),
    }),
    guardrails: STORED,
    answers: [answer],
  });
  const { method, path } = operation;
  const sent = body === undefined && method === 'POST' ? '{}' : (body ?? null);
  const response = await gateway.request(`/v1${path.replaceAll(/\{\w+\}/g, 'one')}`, {
    method,
    ...(sent !== null && { body: sent }),
    headers: {
      ...(sent !== null && { 'content-type': 'application/json' }),
      authorization: 'Bearer provider-key',
      'x-gateway-provider': provider,
      ...(range && { range }),
      ...(config && { 'x-gateway-config': JSON.stringify(config) }),
    },
  });
  const text = await response.text();
  return { status: response.status, text, calls: gateway.calls.length, headers: response.headers };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const saying = (text: string, status = 200): ScriptedAnswer => ({
  status,
  headers: JSON_TYPE,
  chunks: [
    JSON.stringify({
      id: 'one',
      object: 'thing',
      text,
      choices: [{ index: 0, message: { role: 'assistant', content: text } }],
      data: [{ id: 'one', content: [{ type: 'text', text: { value: text } }] }],
      unheard_of: { deep: [text] },
    }),
  ],
});
const CLEAN = saying('Hermes');

/** A provider with each first-class endpoint, and a sound request. */
const REQUESTS: Readonly<Partial<Record<EndpointId, readonly [provider: string, body: object]>>> = {
  'chat-completions': ['openai', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }],
  completions: ['openai', { model: 'm', prompt: 'Hi' }],
  'fim-completions': ['mistral-ai', { model: 'm', prompt: 'Hi' }],
  'agent-completions': ['mistral-ai', { agent_id: 'a', messages: [{ role: 'user', content: 'Hi' }] }],
  responses: ['openai', { model: 'm', input: 'Hi' }],
  compaction: ['openai', { model: 'm', input: 'Hi' }],
  messages: ['anthropic', { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }],
  'count-tokens': ['anthropic', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }],
  'generate-content': ['google', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  interactions: ['google', { model: 'm', input: 'Hi' }],
  'embed-content': ['google', { content: { parts: [{ text: 'Hi' }] } }],
  'chat-v2': ['cohere', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }],
  'embed-v2': ['cohere', { model: 'm', texts: ['Hi'], input_type: 'classification' }],
  'rerank-v2': ['cohere', { model: 'm', query: 'Hi', documents: ['a'] }],
  embeddings: ['openai', { model: 'm', input: 'Hi' }],
  rerank: ['cohere', { model: 'm', query: 'Hi', documents: ['a'] }],
  moderations: ['openai', { model: 'm', input: 'Hi' }],
  ocr: [
    'mistral-ai',
    { model: 'm', document: { type: 'document_url', document_url: 'https://a.example/b' } },
  ],
  'image-generations': ['openai', { model: 'm', prompt: 'Hi' }],
  speech: ['openai', { model: 'm', input: 'Hi', voice: 'alloy' }],
};

describe('the table of what guardrails judge', () => {
  it('has a row for every first-class endpoint, with the places of texts where it is read', () => {
    for (const id of ENDPOINT_IDS) {
      const { request, answer } = ENDPOINT_COVERAGE[id];
      const texts = ENDPOINT_TEXTS[id];
      expect([id, request === 'read', answer === 'read' && request !== 'unread']).toEqual([
        id,
        Boolean(texts?.request),
        Boolean(texts?.answer && texts.request),
      ]);
    }
  });

  it('has the places of texts in every further row that is read or searched', () => {
    for (const { title, answer, texts } of storedCoverage)
      expect([title, Boolean(texts?.answer)]).toEqual([title, answer === 'read' || answer === 'searched']);
  });

  it('names no operation twice', () => {
    const all = storedCoverage.flatMap(({ operations }) =>
      operations.map(({ method, path }) => method + path),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  it('covers every operation of every first-class endpoint', () => {
    for (const endpoint of endpoints)
      for (const { method, path } of endpoint.operations) {
        const { answer } = coverageOf({ method, path: path.replaceAll(/\{\w+\}/g, 'one'), endpoint });
        expect([path, answer]).not.toEqual([path, endpoint.id === 'realtime' ? '' : 'unread']);
      }
  });
});

const firstClass = Object.entries(REQUESTS) as [EndpointId, readonly [string, object]][];
const operationOf = (id: EndpointId): EndpointOperation =>
  endpoints.findLast((one) => one.id === id)?.operations[0] as EndpointOperation;

describe('a forbidden text in the response of a first-class endpoint', () => {
  it.each(firstClass.filter(([id]) => ENDPOINT_COVERAGE[id].answer === 'read'))(
    'is withheld: %s',
    async (id, [provider, body]) => {
      const wish = { operation: operationOf(id), provider, body: JSON.stringify(body), imposed: ['pg-1'] };
      const { status, text, calls } = await ask({ ...wish, answer: saying('the Zeus plan') });

      expect([status, calls]).toEqual([446, 1]);
      expect(text).not.toContain('the Zeus plan');
    },
  );
});

const rows = storedCoverage.flatMap((row) =>
  row.operations.map((operation) => [`${operation.method} ${operation.path}`, row, operation] as const),
);
const readRows = rows.filter(([, { answer }]) => answer === 'read' || answer === 'searched');
/** Where a body is refused unread, a response is reached without one, or by a guardrail of the config. */
const bodyless = { body: null };

describe('a response on another way than the request that made it', () => {
  it.each(readRows)('is withheld for its text: %s', async (_, __, operation) => {
    for (const guarded of [{ imposed: ['pg-1'] }, { config: DENYING }]) {
      const { status, text, calls } = await ask({
        ...{ operation, ...guarded, ...bodyless, answer: saying('the Zeus plan') },
      });

      expect([status, calls]).toEqual([446, 1]);
      expect(text).not.toContain('the Zeus plan');
      await gateway?.close();
    }
  });

  it.each(readRows)(
    'is withheld for its text in a stream, however it is cut: %s',
    async (_, row, operation) => {
      const pieces = row.isListing ? ['the Zeus plan'] : ['the Z', 'eu', 's plan'];
      const events = pieces.map(
        (text) => `data: ${JSON.stringify({ type: 'x.delta', index: 0, delta: { text } })}\n\n`,
      );
      const { text } = await ask({
        ...{ operation, imposed: ['pg-1'], ...bodyless },
        answer: { headers: { 'content-type': 'text/event-stream' }, chunks: events },
      });

      expect(text).toContain('guardrail_denied');
      expect(text).not.toMatch(/Zeus plan|s plan/);
    },
  );

  it.each(readRows)('is redacted: %s', async (_, __, operation) => {
    const answer = saying('write to joe@example.com');
    const { status, text } = await ask({ operation, answer, imposed: ['pg-2'], ...bodyless });

    expect(status).toBe(200);
    expect(text).toContain('{{EMAIL_ADDRESS_1}}');
    expect(text).not.toContain('joe@');
  });

  it.each(readRows)('passes as it came where nothing is found: %s', async (_, __, operation) => {
    const { status, text } = await ask({ operation, answer: CLEAN, imposed: ['pg-1', 'pg-2'], ...bodyless });

    expect([status, text]).toEqual([200, CLEAN.chunks?.[0]]);
  });

  it.each(rows.filter(([, { answer }]) => answer === 'metadata' || answer === 'media'))(
    'passes where it has no model text: %s',
    async (_, __, operation) => {
      const answer = saying('named Zeus');
      const { status, text } = await ask({ operation, answer, imposed: ['pg-1', 'pg-3'], ...bodyless });

      expect([status, text]).toEqual([200, answer.chunks?.[0]]);
    },
  );

  it.each(rows.filter(([, { answer }]) => answer === 'searched'))(
    'is not required to say anything where it has no message: %s',
    async (_, __, operation) => {
      expect((await ask({ operation, answer: CLEAN, imposed: ['pg-3'], ...bodyless })).status).toBe(200);
    },
  );
});

const LINE = (text: string): string =>
  JSON.stringify({
    custom_id: 'one',
    response: { status_code: 200, body: { choices: [{ message: { content: text } }] } },
    result: { type: 'succeeded', message: { content: [{ type: 'text', text }] } },
  });

describe('a file of responses', () => {
  const listings = rows.filter(([, { isListing }]) => isListing);

  it.each(listings)('is withheld for the text of one line: %s', async (_, __, operation) => {
    for (const type of ['application/jsonl', 'application/octet-stream', 'application/json']) {
      const chunks = [`${LINE('Hermes')}\n${LINE('the \\u005aeus plan').replace('\\\\u', '\\u')}\n`];
      const { status, text } = await ask({
        ...{ operation, imposed: ['pg-1'], answer: { headers: { 'content-type': type }, chunks } },
      });

      expect(status).toBe(446);
      expect(text).not.toContain('plan');
      await gateway?.close();
    }
  });

  it.each(listings)(
    'passes where no line has it, though two together would: %s',
    async (_, __, operation) => {
      const chunks = [`${LINE('the Ze')}\n${LINE('us plan')}\n`];
      const answer = { headers: { 'content-type': 'application/jsonl' }, chunks };

      expect(await ask({ operation, imposed: ['pg-1'], answer })).toMatchObject({
        status: 200,
        text: chunks[0],
      });
    },
  );

  it('may be plain text, which is read, and is withheld where it is neither', async () => {
    const operation = { method: 'GET', path: '/files/one/content' };
    const type = { 'content-type': 'application/octet-stream' };
    const ofBytes = (bytes: Buffer | string) =>
      ask({ operation, imposed: ['pg-1'], answer: { headers: type, chunks: [bytes] } });

    expect((await ofBytes('a,b\nZeus,c\n')).status).toBe(446);
    await gateway?.close();
    expect(await ofBytes('a,b\nHermes,c\n')).toMatchObject({ status: 200, text: 'a,b\nHermes,c\n' });
    await gateway?.close();
    expect((await ofBytes(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).status).toBe(446);
  });
});

/** Paths that no row names, in many spellings and methods. */
const UNKNOWN: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/unheard/of'],
  ['DELETE', '/unheard/of'],
  ['PUT', '/unheard/of'],
  ['PATCH', '/chat/completions/one'],
  ['POST', '/unheard/of'],
  ['OPTIONS', '/unheard/of'],
  ['GET', '/chat/completions/'],
  ['GET', '/Chat/completions'],
  ['GET', '/chat/completions/one/'],
  ['GET', '/responses/one/unheard'],
  ['GET', '/files/one/contents'],
  ['GET', '/models/one/operations'],
  ['GET', '/organization/usage/completions'],
  ['GET', '/proxy/unheard/of'],
  ['GET', '/predictions/one'],
  ['GET', '/v1beta/fileSearchStores/one/documents'],
  ['POST', '/messages/batches'],
  ['GET', '/chatkit/threads/one/items'],
];

describe('a part of a response', () => {
  it.each([{ imposed: ['pg-1'] }, { imposed: ['pg-2'] }, { config: DENYING }])(
    'is not fetched where a guardrail reads the whole: %j',
    async (guarded) => {
      const operation = { method: 'GET', path: '/files/one/content' };
      const { status, text, calls } = await ask({
        ...{ operation, answer: saying('Ze', 206), range: 'bytes=0-87', ...bodyless },
        ...guarded,
      });

      expect([status, calls]).toEqual([403, 0]);
      expect(text).toContain('guardrail_inapplicable');
    },
  );

  it.each([
    '/responses/one?stream=true&starting_after=3',
    '/responses/one?starting%5Fafter=3',
    '/responses/one?stream=true;Starting_After[]=3',
    '/v1beta/interactions/one?stream=true&last_event_id=e',
  ])('is not replayed from the middle on: %s', async (path) => {
    for (const guarded of [{ imposed: ['pg-1'] }, { imposed: ['pg-2'] }, { config: DENYING }]) {
      const operation = { method: 'GET', path };
      const { status, calls } = await ask({ operation, answer: saying('us'), ...bodyless, ...guarded });

      expect([status, calls]).toEqual([403, 0]);
      await gateway?.close();
    }
    const operation = { method: 'GET', path };
    expect((await ask({ operation, answer: saying('us'), ...bodyless })).status).toBe(200);
  });

  it('passes where no guardrail reads it', async () => {
    const operation = { method: 'GET', path: '/files/one/content' };
    const asked = { operation, answer: saying('Ze', 206), range: 'bytes=0-87', ...bodyless };

    expect((await ask(asked)).status).toBe(206);
  });
});

describe('the response of a path that no row names', () => {
  it.each(UNKNOWN)('is not fetched where the workspace acts on responses: %s %s', async (method, path) => {
    for (const imposed of ['pg-1', 'pg-2']) {
      const { status, text, calls } = await ask({
        ...{ operation: { method, path }, imposed: [imposed], answer: saying('Zeus joe@example.com') },
        ...(method === 'POST' ? {} : bodyless),
      });

      expect([status, calls]).toEqual([403, 0]);
      expect(text).toContain('guardrail_inapplicable');
      await gateway?.close();
    }
  });

  it('is not fetched without a body either', async () => {
    const operation = { method: 'POST', path: '/unheard/of' };

    expect((await ask({ operation, ...bodyless, imposed: ['pg-1'], answer: CLEAN })).status).toBe(403);
  });

  it('is not fetched where the config denies, and is where the config only redacts', async () => {
    const operation = { method: 'GET', path: '/unheard/of' };
    const redacting = { output_guardrails: [{ 'default.pii': { redact: true } }] };

    expect((await ask({ operation, config: DENYING, answer: CLEAN })).status).toBe(403);
    await gateway?.close();
    expect((await ask({ operation, config: redacting, answer: CLEAN })).status).toBe(200);
  });

  it('passes where guardrails only judge requests, and where only headers are requested', async () => {
    const operation = { method: 'GET', path: '/unheard/of' };
    expect((await ask({ operation, input: ['pg-1'], answer: CLEAN })).status).toBe(200);
    await gateway?.close();

    const head = { method: 'HEAD', path: '/unheard/of' };
    expect((await ask({ operation: head, imposed: ['pg-1'], answer: { chunks: [] } })).status).toBe(200);
  });
});

describe('a refusal or a redirect of the provider', () => {
  const operation = operationOf('chat-completions');
  const body = JSON.stringify(REQUESTS['chat-completions']?.[1]);
  const refusal = (text: string, status: number): ScriptedAnswer => ({
    ...{ status, headers: JSON_TYPE },
    chunks: [JSON.stringify({ error: { message: 'The call failed.', failed_generation: text } })],
  });

  it.each([302, 400, 404, 422, 429, 500])('of status %i is withheld for a forbidden text', async (status) => {
    const answer = refusal('the Zeus plan', status);
    for (const provider of ['openai', 'anthropic']) {
      const { text } = await ask({ operation, body, provider, imposed: ['pg-1'], answer });

      expect(text).not.toContain('the Zeus plan');
      await gateway?.close();
    }
    const answered = await ask({ operation, body, imposed: ['pg-1'], answer });
    expect([answered.status, answered.headers.get('x-gateway-error-source')]).toEqual([446, 'gateway']);
  });

  it('is redacted, and keeps its status', async () => {
    const answer = refusal('joe@example.com', 400);
    const { status, text, headers } = await ask({ operation, body, imposed: ['pg-2'], answer });

    expect([status, headers.get('x-gateway-error-source')]).toEqual([400, 'provider']);
    expect(text).toContain('{{EMAIL_ADDRESS_1}}');
  });

  it.each([
    ['an object', { chunks: ['{"error": {"message":  "no"}}'] }],
    ['a page', { headers: { 'content-type': 'text/html' }, chunks: ['<h1>Bad gateway</h1>'] }],
    ['nothing', { chunks: [] }],
  ])('passes byte for byte where nothing is found, required or not: %s', async (_, given) => {
    const answer = { status: 503, headers: JSON_TYPE, ...given };
    const { status, text } = await ask({ operation, body, imposed: ['pg-1', 'pg-3'], answer });

    expect([status, text]).toEqual([503, given.chunks[0] ?? '']);
  });

  it.each([
    ['a page', { headers: { 'content-type': 'text/html' }, chunks: ['<p>Zeus</p>'] }],
    ['other bytes', { chunks: [Buffer.from('{"error":"Zeus"}', 'utf16le')] }],
    ['a member twice', { chunks: ['{"error":"Zeus","error":"no"}'] }],
    ['events', { chunks: ['data: {"text":"Ze"}\n\ndata: {"text":"us"}\n\n'] }],
  ])('is withheld where it cannot be read, or is read as text: %s', async (_, given) => {
    const answer = { status: 500, headers: JSON_TYPE, ...given };

    expect((await ask({ operation, body, imposed: ['pg-1'], answer })).status).toBe(446);
  });

  it('moves a fallback on, withheld or not', async () => {
    const targets = [
      { provider: 'openai', api_key: 'a' },
      { provider: 'openai', api_key: 'b' },
    ];
    gateway = await aGateway({
      answers: [refusal('Zeus', 500), saying('Hermes')],
      caller: aCaller({ guardrails: { input_guardrails: [], output_guardrails: ['pg-1'] } }),
      guardrails: STORED,
    });
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });
    const headers = { ...JSON_TYPE, 'x-gateway-config': config };
    const response = await gateway.request('/v1/chat/completions', { method: 'POST', body, headers });

    expect([response.status, gateway.calls.length]).toEqual([200, 2]);
  });
});

describe('the table of paths in docs/guardrails.md', () => {
  it('is the one whose rows are tested here', async () => {
    const page = await readFile(new URL('../../../../docs/guardrails.md', import.meta.url), 'utf8');

    expect(page).toContain(`\n${coverageTable()}\n`);
  });
});
