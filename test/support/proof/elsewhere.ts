import { randomUUID } from 'node:crypto';
import { sha256 } from '../http-client.js';
import type { Service } from '../service.js';
import type { SeededRandom } from '../random.js';
import type { Fact } from './facts.js';
import { costOf, PRICES, UNPRICED } from './prices.js';
import type { Tenant } from './tenant.js';

/**
 * Calls that were made elsewhere, drawn and told to the gateway as custom logs and as spans. What is true of each stands in the document
 * that is sent; the time and the id of a custom log are the gateway's.
 */
export interface ToldCall {
  readonly document: object;
  readonly fact: Fact;
}

const HOUR = 3_600_000;
const NANO_PER_MS = 1_000_000n;
const NANO_PER_USD = 1_000_000_000;
const MODELS = ['gpt-4o-mini', 'gpt-4o', UNPRICED, 'gpt-4o-mini'];
const STATUSES = [200, 200, 200, 200, 201, 302, 429, 500];
const AT_A_TIME = 100;

const headersOf = (tenant: Tenant): Record<string, string> => ({
  'x-gateway-api-key': tenant.keys[0]?.key ?? '',
});

interface Drawn {
  readonly model: string;
  readonly status: number;
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number } | null;
  readonly durationMs: number;
  readonly metadata: Readonly<Record<string, string>>;
}

function drawn(random: SeededRandom): Drawn {
  const status = random.of(STATUSES);
  const input = random.whole(1, 3_000);
  return {
    model: random.of(MODELS),
    status,
    usage: status < 400 ? { input, cached: random.whole(0, input), output: random.whole(0, 600) } : null,
    durationMs: random.whole(0, 30_000),
    metadata: {
      _user: `user-${random.whole(0, 40)}`,
      team: random.of(['red', 'blue', 'green', '']),
    },
  };
}

function factOf(tenant: Tenant, trace: string, { model, status, usage, durationMs, metadata }: Drawn): Fact {
  const price = PRICES[model];
  return {
    id: '',
    at: 0,
    trace,
    span: '',
    workspace: tenant.slug,
    keyId: tenant.keys[0]?.id ?? '',
    virtualKey: '',
    provider: 'openai',
    model,
    endpoint: '',
    config: '',
    prompt: '',
    status,
    cacheStatus: '',
    ending: status < 400 ? 'completed' : 'upstream_failed',
    errorCode: '',
    source: 'api',
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cost: usage && price ? costOf(usage, price) : null,
    saved: 0,
    retries: 0,
    fallbacks: 0,
    durationMs,
    metadata,
    feedback: null,
  };
}

export function aCustomLog(tenant: Tenant, trace: string, random: SeededRandom): ToldCall {
  const call = drawn(random);
  const { model, status, usage, durationMs, metadata } = call;
  const told = usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
  return {
    document: {
      request: { url: 'https://api.openai.com/v1/chat/completions', body: { model } },
      response: { status, body: { model, ...(told ? { usage: told } : {}) }, response_time: durationMs },
      metadata: { trace_id: trace, ...metadata },
    },
    fact: factOf(tenant, trace, call),
  };
}

const hex = (random: SeededRandom, digits: number): string =>
  Array.from({ length: digits }, () => random.whole(1, 15).toString(16)).join('');

/** Somewhere in the twenty hours before. */
export function aSpan(tenant: Tenant, now: number, random: SeededRandom): ToldCall {
  const call = drawn(random);
  const at = now - random.whole(0, 20 * HOUR);
  const [trace, span] = [hex(random, 32), hex(random, 16)];
  const fact = factOf(tenant, trace, call);
  const dollars = call.usage && random.is(0.3) ? random.whole(0, 5_000_000) / NANO_PER_USD : null;
  const error = call.status < 400 ? '' : random.of(['timeout', 'rate_limited', '']);
  const attributes: Record<string, string | number> = {
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': call.model,
    'http.response.status_code': call.status,
    ...(call.usage && {
      'gen_ai.usage.input_tokens': call.usage.input,
      'gen_ai.usage.output_tokens': call.usage.output,
      'gen_ai.usage.cache_read.input_tokens': call.usage.cached,
    }),
    ...(dollars === null ? {} : { 'gen_ai.usage.cost': dollars }),
    ...(error === '' ? {} : { 'error.type': error }),
    ...call.metadata,
  };
  return {
    document: {
      traceId: trace,
      spanId: span,
      name: 'call',
      startTimeUnixNano: String(BigInt(at) * NANO_PER_MS),
      endTimeUnixNano: String(BigInt(at + call.durationMs) * NANO_PER_MS),
      attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) })),
    },
    fact: {
      ...fact,
      at,
      span,
      source: 'otlp',
      errorCode: error,
      cost: dollars === null ? fact.cost : Math.round(dollars * NANO_PER_USD),
    },
  };
}

const valueOf = (value: string | number): object => {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** In lists, every second of which is sent once more: spans as an exporter does, custom logs under the same idempotency key. */
export async function tell(
  service: Service,
  tenant: Tenant,
  { logs, spans }: { readonly logs: readonly ToldCall[]; readonly spans: readonly ToldCall[] },
): Promise<void> {
  const post = async (path: string, body: object, key: string): Promise<void> => {
    const headers = { ...headersOf(tenant), 'content-type': 'application/json', 'idempotency-key': key };
    const answer = await service.client.call({ method: 'POST', path, headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
  };
  for (const list of sentTwice(logs)) await post('/v1/logs', list, keyOf(list));
  for (const list of sentTwice(spans))
    await post('/v1/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: list }] }] }, randomUUID());
}

const keyOf = (list: readonly object[]): string => sha256(Buffer.from(JSON.stringify(list)));

const sentTwice = (calls: readonly ToldCall[]): (readonly object[])[] =>
  inLists(calls).flatMap((list, index) => (index % 2 === 0 ? [list, list] : [list]));

function inLists(calls: readonly ToldCall[]): (readonly object[])[] {
  const documents = calls.map(({ document }) => document);
  return Array.from({ length: Math.ceil(documents.length / AT_A_TIME) }, (_, index) =>
    documents.slice(index * AT_A_TIME, (index + 1) * AT_A_TIME),
  );
}
