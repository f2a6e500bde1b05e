import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndpointId } from '../../../src/providers/endpoint.js';
import { own } from '../../../src/providers/dialects/untranslated.js';
import { endpoints } from '../../../src/providers/endpoints/index.js';
import { supportOf } from '../../../src/providers/support.js';
import type { Provider } from '../../../src/providers/provider.js';
import { providers } from '../../../src/providers/catalog/registry.js';
import type { Call, HeaderList } from '../../support/http-client.js';
import { OddJson } from '../../support/odd-json.js';
import { cut, FRAMINGS } from '../../support/odd-streams.js';
import { SeededRandom } from '../../support/random.js';
import type { Script } from '../../support/upstreams/echo.js';
import { CASES, type EndpointCase } from './endpoint-cases.js';
import { oddForm } from './odd-form.js';
import { CALLED, type Exchanged, Rig, typed } from './rig.js';
import { SPOKEN, TRANSLATED_ON_PURPOSE } from './spoken.js';
import { targetOf } from './targets.js';

const SEED = SeededRandom.seedFrom('EQUAL_SHAPES_SEED');
const MODEL = 'gpt-4o-mini';
const QUERIES = ['', '?a=1&a=2&b=%2f..&c', '?=&&', '?x=%C3%28', '?q=a+b%20c|d', '?u=http://x/y?z'];

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

const spokenBy = ({ id }: Provider): ReadonlySet<string> => new Set((SPOKEN[id] ?? '').split(' '));

/** Also true for a provider whose API the gateway does not know: it receives every request unchanged. */
const passes = (provider: Provider, endpoint: EndpointId): boolean =>
  provider.dialect === own || spokenBy(provider).has(endpoint);

describe('the catalogue', () => {
  it('lists the endpoints that the providers document', () => {
    const native = ({ endpoints: ids }: Provider): string[] =>
      CASES.map(({ endpoint }) => endpoint).filter((endpoint) => ids.includes(endpoint));
    const speaking = CALLED.filter((row) => native(row).length > 0);

    expect(Object.fromEntries(speaking.map((row) => [row.id, native(row).sort()]))).toEqual(
      Object.fromEntries(Object.entries(SPOKEN).map(([id, spoken]) => [id, spoken.split(' ').sort()])),
    );
  });

  it('translates the pairs that are translated on purpose', () => {
    for (const [id, endpoint] of TRANSLATED_ON_PURPOSE) {
      const provider = providers.get(id);
      expect(provider && supportOf(provider, endpoint), `${id} ${endpoint}`).toBe('translated');
    }
  });

  it('has a case for every endpoint that the gateway reads', () => {
    const read = endpoints.filter(({ body }) => body !== 'opaque').map(({ id }) => id);

    expect(CASES.map(({ endpoint }) => endpoint).sort()).toEqual(read.sort());
  });
});

interface Sent {
  readonly call: Call & { readonly body: Buffer | readonly Buffer[] };
  readonly bytes: Buffer;
  readonly query: string;
}

/** A valid request in unusual spelling. */
function aRequest(random: SeededRandom, provider: Provider, one: EndpointCase, isStreamed: boolean): Sent {
  const path = (isStreamed && one.streamPath) || one.path;
  const query = path.includes('?') ? '' : random.of(QUERIES);
  const { type, bytes: plain } =
    one.body === 'form' ? oddForm(random, MODEL, isStreamed) : jsonRequest(random, one, isStreamed);
  const isCompressed = one.body === 'json' && random.is(0.15);
  const bytes = isCompressed ? gzipSync(plain) : plain;
  return {
    bytes,
    query,
    call: {
      method: 'POST',
      path: `/v1${path}${query}`,
      headers: {
        'x-gateway-virtual-key': provider.id,
        'content-type': type,
        'X-Client-Odd': 'a  b ;q="1.0"',
        ...(isCompressed && { 'content-encoding': 'gzip' }),
      },
      body: random.is(0.3) ? cut(random, bytes) : bytes,
    },
  };
}

function jsonRequest(random: SeededRandom, { request, path }: EndpointCase, isStreamed: boolean) {
  const model = path.startsWith('/models/') ? [] : ([['model', `"${MODEL}"`]] as const);
  const stream = isStreamed ? ([['stream', 'true']] as const) : [];
  const odd = OddJson.of(random, [...model, ...request, ...stream]);
  return { type: 'application/json ; charset="utf-8"', bytes: marked(random, odd.bytes) };
}

/** With or without a byte order mark, which readers may ignore: https://www.rfc-editor.org/rfc/rfc8259#section-8.1 */
const marked = (random: SeededRandom, json: Buffer): Buffer =>
  random.is(0.1) ? Buffer.concat([Buffer.from('\ufeff'), json]) : json;

interface Planned {
  readonly script: Script;
  readonly bytes: Buffer;
  readonly title: string;
}

const scripted = (
  random: SeededRandom,
  title: string,
  bytes: Buffer,
  headers: HeaderList,
  status = 200,
): Planned => ({
  title,
  bytes,
  script: { status, headers, body: random.is(0.5) ? cut(random, bytes) : bytes },
});

function plainAnswer(random: SeededRandom, { answer, endpoint }: EndpointCase): Planned {
  if (endpoint === 'speech')
    return scripted(random, 'sound', Buffer.from([0xff, 0xfb, 0, 13, 10]), typed('audio/mpeg'));
  const bytes = marked(random, OddJson.of(random, answer).bytes);
  const title = random.is(0.2) ? 'gzip' : 'plain';
  const type = random.of(['application/json', 'Application/JSON ; Charset="UTF-8"']);
  return title === 'gzip'
    ? scripted(random, title, gzipSync(bytes), typed(type, [['Content-Encoding', 'GZIP']]))
    : scripted(random, title, bytes, typed(type));
}

function streamedAnswer(random: SeededRandom, events: readonly string[]): Planned {
  const [title, framing] = random.of(Object.entries(FRAMINGS));
  return scripted(random, title, Buffer.from(framing(events)), typed('text/event-stream;charset=UTF-8'));
}

function refusal(random: SeededRandom): Planned {
  const { bytes } = OddJson.of(random, [['error', '{ "message":"n\\u006f", "code":4.0e2}']]);
  return scripted(
    random,
    'refusal',
    bytes,
    typed('application/problem+json'),
    random.of([400, 404, 422, 429]),
  );
}

function compare(provider: Provider, one: EndpointCase, sent: Sent, planned: Planned, done: Exchanged): void {
  const title = `${provider.id} ${one.endpoint} ${planned.title} (EQUAL_SHAPES_SEED=${SEED})`;
  const { received, answer } = done;
  const path = sent.call.path.slice('/v1'.length);
  if (!received) throw new Error(`${title}: nothing was sent, ${answer.status} ${answer.body.toString()}`);
  expect(received.body.toString('latin1'), title).toBe(sent.bytes.toString('latin1'));
  expect(received.target, title).toBe(targetOf(provider, one.endpoint, path, MODEL));
  for (const name of ['content-type', 'X-Client-Odd', 'content-encoding'])
    expect(received.headers.find(([given]) => given === name)?.[1], title).toBe(sent.call.headers?.[name]);
  expect(answer.body.toString('latin1'), title).toBe(planned.bytes.toString('latin1'));
  expect(answer.status, title).toBe(planned.script.status);
  for (const field of planned.script.headers ?? []) expect(answer.rawHeaders, title).toContainEqual(field);
}

function compareTokens(one: EndpointCase, planned: Planned, { answer }: Exchanged): void {
  if (!one.tokens || planned.title === 'refusal') return;
  const record = rig.gateway.logs.find(({ record: { id } }) => id === answer.requestId)?.record;
  const title = `${one.endpoint} ${planned.title} (EQUAL_SHAPES_SEED=${SEED})`;
  expect([record?.usage?.input_tokens, record?.usage?.output_tokens], title).toEqual(one.tokens);
  expect(record?.usage_source, title).toBe('provider');
}

describe('bytes pass where the provider has the format of the client', () => {
  it.each(CALLED)('at $id', async (provider) => {
    const random = new SeededRandom(SEED + CALLED.indexOf(provider));
    for (const one of CASES.filter(({ endpoint }) => passes(provider, endpoint))) {
      const answers = [plainAnswer(random, one), refusal(random)];
      const streams = one.events ? [1, 2, 3].map(() => streamedAnswer(random, one.events ?? [])) : [];
      for (const planned of [...answers, ...streams]) {
        const sent = aRequest(random, provider, one, streams.includes(planned));
        const done = await rig.exchange(sent.call, planned.script);
        compare(provider, one, sent, planned, done);
        compareTokens(one, planned, done);
      }
    }
  });
});
