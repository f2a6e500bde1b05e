import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IdentityService } from '../../src/auth/identity/identity.service.js';
import type { KnownKey, TokenDirectory } from '../../src/auth/ports.js';
import type { Principal } from '../../src/auth/principal.js';
import { mintApiKey } from '../../src/common/crypto/api-key-format.js';
import { Secret } from '../../src/common/settings/secret.js';
import type { CapturedBodies, OpenedExchange, RequestLogRecord } from '../../src/request-log/record.js';
import { readRoutingConfig } from '../../src/routing-config/routing-config.js';
import { Egress } from '../../src/egress/egress.js';
import type {
  ClientDisconnectRule,
  UnsupportedParameterRule,
} from '../../src/common/contracts/upstream-rules.js';
import type { Limit } from '../../src/common/limits/limit.js';
import { ClientAddresses } from '../../src/common/http/client-address.js';
import { loadSettings } from '../../src/common/settings/settings.js';
import { Admission } from '../../src/gateway/upstream/admission.js';
import { Limiter } from '../../src/gateway/limits/limiter.js';
import type { HttpCaller } from '../../src/egress/http-caller.js';
import { ProviderCaller } from '../../src/gateway/guardrails/calling/provider-caller.js';
import { ResponseCache } from '../../src/gateway/caching/response-cache.js';
import { Embedder } from '../../src/gateway/caching/semantic/embedder.js';
import { SemanticSearch } from '../../src/gateway/caching/semantic/semantic-search.js';
import { Guardrails } from '../../src/gateway/guardrails/guardrails.js';
import { Pipeline, RequestSteps } from '../../src/gateway/pipeline.js';
import { ExchangeRecorders } from '../../src/gateway/recording/exchange-recorder.js';
import { ConfigPlans } from '../../src/gateway/planning/config-plans.js';
import { Planner } from '../../src/gateway/planning/planner.js';
import type {
  ConfigSnapshot,
  GuardrailSnapshot,
  PriceBook,
  VirtualKeySnapshot,
} from '../../src/gateway/ports.js';
import { Breakers } from '../../src/gateway/routing/breakers.js';
import { Router } from '../../src/gateway/routing/router.js';
import { RetryingSender } from '../../src/gateway/attempt/retrying-sender.js';
import { TargetAttempts } from '../../src/gateway/attempt/attempt-target.js';
import { TargetEstimates } from '../../src/gateway/attempt/target-estimates.js';
import type { Target } from '../../src/gateway/types/target.js';
import { LocalModels } from '../../src/gateway/models/local-models.js';
import { UsableModelsFinder } from '../../src/gateway/models/usable-models.js';
import type { ModelEntry } from '../../src/providers/models/model-entry.js';
import type { Price } from '../../src/providers/prices/price.js';
import { Attempt, type AttemptLimits } from '../../src/gateway/upstream/attempt.js';
import type { Sender } from '../../src/gateway/upstream/sender.js';
import { replayWire } from '../../src/gateway/upstream/replay-wire.js';
import { MemoryAnswerStore } from './memory-answer-store.js';
import { MemoryVectorStore } from './memory-vector-store.js';
import { MemoryLimitStore } from './memory-limit-store.js';
import type { Wire, WireHandler, WireRequest } from '../../src/gateway/upstream/wire.js';

/** A caller who may call models, unless the test says otherwise. */
export function aCaller(wishes: Partial<Principal> = {}): Principal {
  return {
    kind: 'workspace_service_key',
    apiKeyId: '00000000-0000-7000-8000-000000000001',
    name: 'test',
    organizationId: '00000000-0000-7000-8000-000000000002',
    workspaceId: '00000000-0000-7000-8000-000000000003',
    userId: null,
    authorityId: null,
    policy: null,
    scopes: new Set(['completions.write']),
    ...wishes,
  };
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks?: readonly (string | Buffer)[];
  /** Ends with this error: before the head when there are no chunks and no status. */
  readonly error?: Error;
  /** Never ends by itself. */
  readonly isEndless?: boolean;
  /** Chunks that come right behind the head, before `until` is asked. */
  readonly first?: readonly string[];
  /** Asked until it holds, between the head and the first chunk. */
  readonly until?: () => boolean;
  /** Called before the request receives it. */
  readonly onSent?: () => void;
  /** The connection never stood. */
  readonly isUnsent?: boolean;
}

export interface GatewayWishes {
  /** Rule of every virtual key for parameters that its provider does not have. */
  readonly unsupportedParameters?: UnsupportedParameterRule;
  /** Rule of the virtual key "openai-prod" for clients that leave. */
  readonly onClientDisconnect?: ClientDisconnectRule;
  readonly caller?: Principal;
  /** Signed tokens and whose they are. */
  readonly tokens?: TokenDirectory;
  /** Answers in the order of the tries; the last one repeats. */
  readonly answers?: readonly ScriptedAnswer[];
  /** Saved configs by slug. */
  readonly configs?: Readonly<Record<string, object>>;
  /** Virtual keys besides `openai-prod` by slug: a provider id, or an account. */
  readonly virtualKeys?: Readonly<Record<string, string | AccountWish>>;
  /** Sends requests instead of playing the scripted answers. */
  readonly wire?: (request: SentRequest) => Wire;
  readonly settings?: Readonly<Record<string, string>>;
  /** Of the virtual key "openai-prod". */
  readonly limits?: readonly Limit[];
  /** Stored guardrails by their slug. */
  readonly guardrails?: Readonly<Record<string, GuardrailSnapshot>>;
  /** Where webhooks go. */
  readonly http?: Pick<HttpCaller, 'call'>;
  /** How many times dearer than `gpt-4o-mini` further models are. */
  readonly prices?: Readonly<Record<string, number>>;
  /** The price of every model, instead of these. */
  readonly price?: Price | null;
  /** Models of the catalogue. */
  readonly models?: readonly ModelEntry[];
  /** False: disk and reserve are full. */
  readonly hasRoom?: boolean;
  /** Shared by several gateways. */
  readonly answerStore?: MemoryAnswerStore;
  readonly vectorStore?: MemoryVectorStore;
  /** What a provider answers that is asked for the vector of a text. */
  readonly embed?: (text: string) => ScriptedAnswer;
}

/** The provider, host, fields and models of a virtual key. */
export type AccountWish = Pick<VirtualKeySnapshot, 'providerId' | 'customHost' | 'models'> &
  Pick<VirtualKeySnapshot['credentials'], 'fields'>;

export interface SentRequest extends WireRequest {
  readonly target: Target;
  readonly tenant: string;
}

export interface TestGateway {
  readonly url: string;
  readonly key: string;
  /** Without those for embeddings where the test answers them by themselves. */
  readonly calls: SentRequest[];
  readonly embeddings: SentRequest[];
  readonly opened: OpenedExchange[];
  /** Later states of exchanges that were under way, and how many calls had been sent by then. */
  readonly updated: (OpenedExchange & { readonly sent: number })[];
  readonly logs: { record: RequestLogRecord; bodies: CapturedBodies }[];
  readonly cancelled: Error[];
  readonly limits: MemoryLimitStore;
  readonly answerStore: MemoryAnswerStore;
  readonly vectorStore: MemoryVectorStore;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly chat: (body: object, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly logged: () => Promise<RequestLogRecord>;
  /** From now on the key is unknown, or nobody can say whether it is known. */
  readonly revoke: (outcome?: Error) => void;
  readonly close: () => Promise<void>;
}

const PRICE = {
  input: 150_000_000,
  output: 600_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

function priceOf(model: string, times: GatewayWishes['prices'] = {}) {
  if (model.startsWith('gpt-4o-mini')) return PRICE;
  const factor = times[model];
  return factor === undefined
    ? null
    : { ...PRICE, input: factor * PRICE.input, output: factor * PRICE.output };
}

/** The whole data plane in memory: its ports are plain objects, its wire plays what the test wrote. */
export async function aGateway(wishes: GatewayWishes = {}): Promise<TestGateway> {
  const key = mintApiKey('ws').reveal();
  const caller = wishes.caller ?? aCaller();
  const settings = loadSettings({ ...wishes.settings });
  const seen: Pick<TestGateway, 'calls' | 'embeddings' | 'opened' | 'updated' | 'logs' | 'cancelled'> = {
    calls: [],
    embeddings: [],
    opened: [],
    updated: [],
    logs: [],
    cancelled: [],
  };
  const virtualKeys = new Map(
    Object.entries({ 'openai-prod': 'openai', ...wishes.virtualKeys }).map(([slug, providerId], index) => [
      slug,
      aVirtualKey(slug, providerId, index, wishes),
    ]),
  );
  const configs = new Map(
    Object.entries(wishes.configs ?? {}).map(([slug, document], index) => [
      slug,
      aConfig(slug, document, index),
    ]),
  );
  let keys = (): KnownKey | null => ({ principal: caller, expiresAt: null });
  const usable = [...virtualKeys.values()];
  const store = new MemoryLimitStore();
  const answerStore = wishes.answerStore ?? new MemoryAnswerStore();
  const vectorStore = wishes.vectorStore ?? new MemoryVectorStore();
  const guardrails = new Map(Object.entries(wishes.guardrails ?? {}));
  const sender = scripted(wishes, seen, settings.timeouts) as unknown as Sender;
  const planner = new Planner(
    { find: (_reach, slug) => virtualKeys.get(slug) ?? null, credentialRefused: () => undefined },
    new Egress({ allow: settings.egressAllow, timeouts: settings.timeouts }),
    { find: () => usable },
  );
  const prices: PriceBook = {
    find: (_provider, model) => (wishes.price === undefined ? priceOf(model, wishes.prices) : wishes.price),
  };
  const limiter = new Limiter(store);
  const admission = new Admission(limiter, prices, settings);
  const steps = new RequestSteps(
    new IdentityService(
      { find: (secret) => (secret === key ? keys() : null), endOf: () => Promise.resolve(null) },
      wishes.tokens ?? { find: () => null, isOurs: () => false },
      new ClientAddresses([]),
    ),
    new ConfigPlans({
      find: (_reach, name) =>
        configs.get(name) ?? [...configs.values()].find(({ id }) => id === name) ?? null,
      slugs: () => Promise.resolve([...configs.keys()]),
    }),
    new Router(new Breakers({ tell: () => undefined, subscribe: () => undefined })),
    new TargetAttempts(
      planner,
      new Guardrails(
        { find: (_reach, slug) => guardrails.get(slug) ?? null },
        wishes.http as HttpCaller,
        new ProviderCaller(planner, sender),
      ),
      new ResponseCache(
        answerStore,
        settings,
        new SemanticSearch(new Embedder(planner, sender, admission), vectorStore, settings),
      ),
      new RetryingSender(sender, admission),
      new TargetEstimates(planner, admission),
    ),
    new ExchangeRecorders(
      {
        open: (exchange) => {
          seen.opened.push(exchange);
          return null;
        },
        update: (exchange, attempts) =>
          seen.updated.push({ ...exchange, attempts_so_far: attempts, sent: seen.calls.length }),
        close: (record, bodies) => seen.logs.push({ record, bodies }),
        hasSpace: wishes.hasRoom ?? true,
        whenWritten: (then) => setImmediate(then),
      },
      prices,
      settings,
    ),
  );
  const pipeline = new Pipeline(
    steps,
    new LocalModels(
      new UsableModelsFinder(
        {
          prepare: () => null,
          all: () => wishes.models ?? [],
          listed: () => Buffer.from('{"object":"list","data":[]}'),
        },
        { find: () => usable },
      ),
    ),
    settings,
  );
  const server = createServer((request, response) => {
    pipeline.handle(request, response);
  });
  const url = await listening(server);
  const request = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      headers: { 'x-gateway-api-key': key, ...(init.headers as Record<string, string>) },
    });
  return {
    url,
    key,
    limits: store,
    answerStore,
    vectorStore,
    ...seen,
    request,
    chat: (body, headers = {}) =>
      request('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'openai-prod', ...headers },
      }),
    logged: () => firstOf(seen.logs),
    revoke: (outcome) => {
      keys = () => {
        if (outcome) throw outcome;
        return null;
      };
    },
    close: async () => {
      await closed(server);
      await limiter.onApplicationShutdown();
    },
  };
}

function aVirtualKey(
  slug: string,
  account: string | AccountWish,
  index: number,
  { limits, onClientDisconnect, unsupportedParameters }: GatewayWishes,
): VirtualKeySnapshot {
  const { fields, ...place } =
    typeof account === 'string' ? { providerId: account, customHost: null, fields: {} } : account;
  return {
    id: `00000000-0000-7000-8000-000000001${String(index).padStart(3, '0')}`,
    slug,
    workspaceId: '00000000-0000-7000-8000-000000000003',
    ...place,
    credentials: { key: new Secret(slug === 'openai-prod' ? 'sk-stored' : `sk-${slug}`), fields },
    expiresAt: null,
    ...(limits && slug === 'openai-prod' ? { limits } : {}),
    ...(onClientDisconnect && slug === 'openai-prod' ? { onClientDisconnect } : {}),
    ...(unsupportedParameters ? { unsupportedParameters } : {}),
  };
}

function aConfig(slug: string, document: object, index: number): ConfigSnapshot {
  const read = readRoutingConfig(document);
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  const ending = String(index).padStart(2, '0');
  return {
    id: `00000000-0000-7000-8000-0000000002${ending}`,
    slug,
    versionId: `00000000-0000-7000-8000-0000000003${ending}`,
    document: read.config,
  };
}

function scripted(
  { answers = [{}], embed, wire }: GatewayWishes,
  seen: Pick<TestGateway, 'calls' | 'embeddings' | 'cancelled'>,
  timeouts: Omit<AttemptLimits, 'setByCaller'>,
): Pick<Sender, 'limitsFor' | 'start'> {
  return {
    limitsFor: (timeoutMs) => ({
      ...timeouts,
      ...(timeoutMs && { firstByteMs: timeoutMs }),
      setByCaller: timeoutMs !== null,
    }),
    start: (tenant, target, request, limits) => {
      if (request.stored) return new Attempt(limits).send(replayWire(request.stored), request);
      if (wire) {
        const sent = { ...request, target, tenant };
        seen.calls.push(sent);
        return new Attempt(limits).send(wire(sent), request);
      }
      const isEmbedding = embed !== undefined && request.path.endsWith('/embeddings');
      const answer = isEmbedding
        ? embed((JSON.parse((request.body as Buffer).toString()) as { input: string }).input)
        : (answers[Math.min(seen.calls.length, answers.length - 1)] ?? {});
      (isEmbedding ? seen.embeddings : seen.calls).push({ ...request, target, tenant });
      return new Attempt(limits).send(
        { dispatch: (_, handler) => void play(answer, handler, seen.cancelled) },
        request,
      );
    },
  };
}

async function play(answer: ScriptedAnswer, handler: WireHandler, cancelled: Error[]): Promise<void> {
  let isAborted = false;
  answer.onSent?.();
  if (!answer.isUnsent)
    handler.onConnect((reason) => {
      isAborted = true;
      cancelled.push(reason as Error);
      handler.onError(reason as Error);
    });
  await new Promise(setImmediate);
  const {
    status = answer.error ? 0 : 200,
    headers = { 'content-type': 'application/json' },
    chunks = [],
  } = answer;
  const raw = Object.entries(headers).flatMap(([name, value]) => [
    name,
    Buffer.from(value).toString('latin1'),
  ]);
  if (status) handler.onHeaders(status, raw, () => undefined, '');
  for (const chunk of answer.first ?? []) handler.onData(Buffer.from(chunk));
  while (answer.until && !isAborted && !answer.until()) await new Promise(setImmediate);
  for (const chunk of chunks) {
    await new Promise(setImmediate);
    if (isAborted) return;
    handler.onData(Buffer.from(chunk));
  }
  if (isAborted || answer.isEndless) return;
  if (answer.error) handler.onError(answer.error);
  else handler.onComplete();
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}

async function firstOf(logs: readonly { record: RequestLogRecord }[]): Promise<RequestLogRecord> {
  for (let tries = 0; tries < 500; tries++) {
    if (logs[0]) return logs[0].record;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('No record was written within five seconds.');
}
