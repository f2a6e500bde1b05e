import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { vi } from 'vitest';
import { readCredential } from '../../src/auth/identity/credentials.js';
import type { Limit } from '../../src/common/limits/limit.js';
import { loadSettings } from '../../src/common/settings/settings.js';
import { Limiter } from '../../src/gateway/limits/limiter.js';
import { FrameReader } from '../../src/gateway/realtime/frames.js';
import { recordedSession } from '../../src/gateway/realtime/session-record.js';
import type { PriceBook } from '../../src/gateway/ports.js';
import type { Exchange } from '../../src/gateway/recording/exchange.js';
import { ExchangeRecorders } from '../../src/gateway/recording/exchange-recorder.js';
import { NO_TRAIL, trailAt } from '../../src/gateway/types/attempt-trail.js';
import type { Target } from '../../src/gateway/types/target.js';
import { Admission } from '../../src/gateway/upstream/admission.js';
import { Cancellation } from '../../src/gateway/types/cancellation.js';
import { Attempt } from '../../src/gateway/upstream/attempt.js';
import { findProvider } from '../../src/providers/catalog/registry.js';
import type { Price } from '../../src/providers/prices/price.js';
import type { AttemptRecord, RequestLogRecord } from '../../src/request-log/record.js';
import { aCaller } from './gateway.js';
import type { LimitedPlace } from './limited-places.js';
import { MemoryLimitStore } from './memory-limit-store.js';

/** A nano-dollar per token, whatever its kind. */
const PRICE: Price = {
  ...{ input: 1_000_000, output: 1_000_000 },
  ...{ cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
};
export const OUTPUT = 100;
/** One slice of input, and the output ceiling. */
export const STEP = 256 + OUTPUT;
export const USED = 30;
/** What an open session holds. */
export const OPENING = 2;
export const DONE = {
  type: 'response.done',
  response: { status: 'completed', usage: { input_tokens: 20, output_tokens: 10 } },
};
export const CREATED = { type: 'response.created', response: {} };
export const CREATE = { type: 'response.create' };

const masked = (event: object): Buffer => maskedText(JSON.stringify(event));

function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  const bytes = payload.map((byte, at) => byte ^ (mask[at % 4] as number));
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, mask, bytes]);
}

function plain(event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event));
  return Buffer.concat([Buffer.from([0x81, 0x7e, payload.length >> 8, payload.length & 0xff]), payload]);
}

interface SessionWishes {
  /** Null: no model has one. */
  readonly price?: null;
  readonly store?: MemoryLimitStore;
  /** Where the limits are, instead of the API key. */
  readonly place?: LimitedPlace;
  readonly path?: string;
}

/** Ends the sessions of a test. */
export const endSessions = (): void => started.splice(0).forEach((end) => end());
const started: (() => void)[] = [];

/** An open session under limits: `say` speaks for the client, `report` for the provider. */
export async function aSession(limits: readonly Limit[] | null, wishes: SessionWishes = {}) {
  const store = wishes.store ?? new MemoryLimitStore();
  const limiter = new Limiter(store);
  started.push(() => void limiter.onApplicationShutdown());
  const settings = loadSettings({ GATEHOUSE_OUTPUT_TOKENS_CEILING: String(OUTPUT) });
  const prices: PriceBook = {
    find: (_, model) => (model === 'unpriced' || wishes.price === null ? null : PRICE),
  };
  const admission = new Admission(limiter, prices, settings);
  const { place, path: name = '/realtime' } = wishes;
  const caller = place?.caller ?? aCaller(limits ? { limits: { limits, policies: [] } } : {});
  const ofKey = place?.ofVirtualKey ? { id: 'vk', slug: 'vk', limits: place.ofVirtualKey } : null;
  const target: Target = {
    ...{ provider: findProvider('openai'), origin: 'https://api.openai.com', basePath: '/v1', query: '' },
    ...{ virtualKey: ofKey, credentials: { key: null, fields: {} }, isCustomHost: false, forwarded: null },
  };
  const kept: (readonly AttemptRecord[])[] = [];
  let closed: RequestLogRecord | null = null;
  const request = { method: 'GET', url: `/v1${name}`, headers: {}, rawHeaders: [] };
  const recorders = new ExchangeRecorders(
    {
      ...{ hasSpace: true, open: () => null, whenWritten: (then: () => void) => setImmediate(then) },
      update: (_, attempts) => kept.push(attempts),
      close: (record) => (closed = record),
    },
    prices,
    settings,
  );
  const path = { path: name, query: '' };
  const nothing = { body: null, json: null, isStreamed: true, isWebSocket: true } as const;
  const content = { ...nothing, path, model: 'gpt-realtime' } as never;
  const trail = trailAt(NO_TRAIL, target, 'config', content);
  const begun = recorders.begin(request as unknown as IncomingMessage);
  const facts = { ...begun.facts, caller, path: name };
  const exchange: Exchange = {
    ...{ ...begun, facts, trail, signal: new Cancellation(), streams: null },
    ...{ response: {} as never, credential: readCredential({}) },
  };
  await begun.recorder.open({ request: begun.request, facts, caller, trail, waitedMs: 0 });
  const reservation = await admission.reserve({
    ...{ exchange, caller, target, content, wire: {} as never, option: 'config' },
  });
  const attempt = new Attempt({ connectMs: 1e6, firstByteMs: 1e6, idleMs: 1e6, setByCaller: false } as never);
  attempt.onConnect(() => undefined);
  const [client, clientEnd] = duplexPair();
  const [upstream, providerEnd] = duplexPair();
  attempt.onUpgrade(101, [], upstream);
  const { session, reservations } = recordedSession({
    sides: { client: clientEnd, upstream },
    ...{ admission, exchange, caller, onEnded: () => undefined },
    sent: { attempt, reservation, cacheFill: null },
  });
  session.start(Buffer.alloc(0));
  started.push(() => {
    client.destroy();
    providerEnd.destroy();
  });
  const seen: string[] = [];
  const heard: string[] = [];
  let bytes = Buffer.alloc(0);
  const provider = new FrameReader(
    { onText: (text) => seen.push(typeOf(text)), onUnread: () => undefined },
    'client',
  );
  const reader = new FrameReader({
    onText: (text) => heard.push(text.toString()),
    onUnread: () => undefined,
  });
  providerEnd.on('data', (chunk: Buffer) => provider.feed(chunk));
  client.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    reader.feed(chunk);
  });
  return {
    ...{ store, limiter, kept, seen, heard, reservations, session, client, providerEnd },
    say: (...events: readonly object[]) => client.write(Buffer.concat(events.map(masked))),
    sayRaw: (text: string) => client.write(maskedText(text)),
    report: (...events: readonly object[]) => providerEnd.write(Buffer.concat(events.map(plain))),
    record: () => vi.waitFor(() => closed ?? Promise.reject(new Error('no record')), 5_000),
    closeCode: () => vi.waitFor(() => closeCodeIn(bytes), 5_000),
    taken: (limit: Limit) =>
      [...store.leased].filter(([key]) => key.startsWith(limit.id)).reduce((sum, [, held]) => sum + held, 0),
  };
}

const typeOf = (text: Buffer): string => (JSON.parse(text.toString()) as { type: string }).type;

function closeCodeIn(bytes: Buffer): { code: number; reason: string } {
  const at = bytes.lastIndexOf(0x88);
  const length = bytes[at + 1] ?? 0;
  if (at < 0 || at + 2 + length !== bytes.length) throw new Error('not closed');
  return { code: bytes.readUInt16BE(at + 2), reason: bytes.subarray(at + 4).toString() };
}

/** What a check returns once it passes, within five seconds. */
export const soon = <T>(check: () => T): Promise<T> => vi.waitFor(check, 5_000);
