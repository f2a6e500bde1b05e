import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { aBudget, aLimit, slots } from '../../../test/support/limits.js';
import { MemoryLimitStore } from '../../../test/support/memory-limit-store.js';
import type { Limit } from '../../common/limits/limit.js';
import { loadSettings } from '../../common/settings/settings.js';
import type { Price } from '../../providers/prices/price.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { AttemptRecord, RequestLogRecord } from '../../request-log/record.js';
import { Limiter } from '../limits/limiter.js';
import type { PriceBook } from '../ports.js';
import type { Exchange } from '../recording/exchange.js';
import { ExchangeRecorders } from '../recording/exchange-recorder.js';
import { NO_TRAIL, trailAt } from '../types/attempt-trail.js';
import type { Target } from '../types/target.js';
import { Admission } from '../upstream/admission.js';
import { Attempt } from '../upstream/attempt.js';
import { FrameReader } from './frames.js';
import { recordedSession } from './session-record.js';

/** A nano-dollar per token, whatever its kind. */
const PRICE: Price = {
  ...{ input: 1_000_000, output: 1_000_000 },
  ...{ cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
};
const OUTPUT = 100;
/** One slice of input, and the output ceiling. */
const STEP = 256 + OUTPUT;
const USED = 30;
/** What an open session holds. */
const OPENING = 2;
const DONE = {
  type: 'response.done',
  response: { status: 'completed', usage: { input_tokens: 20, output_tokens: 10 } },
};
const CREATED = { type: 'response.created', response: {} };
const CREATE = { type: 'response.create' };

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

const started: (() => void)[] = [];
afterEach(() => started.splice(0).forEach((end) => end()));

interface Wishes {
  /** Null: no model has one. */
  readonly price?: null;
  readonly store?: MemoryLimitStore;
  readonly place?: Place;
}

/** Where limits are. A workspace's come with those of its key. */
const PLACES = ['API key', 'workspace', 'policy', 'virtual key'] as const;
type Place = (typeof PLACES)[number];

function callerUnder(limits: readonly Limit[] | null, place: Place) {
  if (!limits || place === 'virtual key') return aCaller();
  const policies = limits.map((limit) => ({
    ...{ limit, groups: [] },
    conditions: [{ key: 'model' as const, value: 'GPT-Realtime' }],
  }));
  return aCaller({ limits: place === 'policy' ? { limits: [], policies } : { limits, policies: [] } });
}

/** An open session under limits: `say` speaks for the client, `report` for the provider. */
async function aSession(limits: readonly Limit[] | null, wishes: Wishes = {}) {
  const store = wishes.store ?? new MemoryLimitStore();
  const limiter = new Limiter(store);
  const settings = loadSettings({ GATEHOUSE_OUTPUT_TOKENS_CEILING: String(OUTPUT) });
  const prices: PriceBook = {
    find: (_, model) => (model === 'unpriced' || wishes.price === null ? null : PRICE),
  };
  const admission = new Admission(limiter, prices, settings);
  const place = wishes.place ?? 'API key';
  const caller = callerUnder(limits, place);
  const ofKey = limits && place === 'virtual key' ? { id: 'vk', slug: 'vk', limits } : null;
  const target: Target = {
    ...{ provider: findProvider('openai'), origin: 'https://api.openai.com', basePath: '/v1', query: '' },
    ...{ virtualKey: ofKey, credentials: { key: null, fields: {} }, isCustomHost: false, forwarded: null },
  };
  const kept: (readonly AttemptRecord[])[] = [];
  let closed: RequestLogRecord | null = null;
  const request = { method: 'GET', url: '/v1/realtime', headers: {}, rawHeaders: [] };
  const recorders = new ExchangeRecorders(
    {
      ...{ hasRoom: true, open: () => null, whenWritten: (then: () => void) => setImmediate(then) },
      update: (_, attempts) => kept.push(attempts),
      close: (record) => (closed = record),
    },
    prices,
    settings,
  );
  const path = { path: '/realtime', query: '' };
  const nothing = { body: null, json: null, isStreamed: true, isWebSocket: true } as const;
  const content = { ...nothing, path, model: 'gpt-realtime' } as never;
  const trail = trailAt(NO_TRAIL, target, 'config', content);
  const begun = recorders.begin(request as unknown as IncomingMessage);
  const facts = { ...begun.facts, caller, path: '/realtime' };
  const exchange: Exchange = { ...begun, facts, trail, response: { destroyed: false } as never };
  const { recorder } = exchange;
  await recorder.open({ request: exchange.request, facts, caller, trail, waitedMs: 0 });
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
    void limiter.onApplicationShutdown();
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

const soon = <T>(check: () => T): Promise<T> => vi.waitFor(check, 5_000);

describe('a session under a budget', () => {
  it('passes a request only when its response is reserved, and is charged what each response reports', async () => {
    const budget = aBudget(10_000);
    const { say, report, seen, heard, client, record, kept } = await aSession([budget]);
    for (let turn = 1; turn <= 3; turn++) {
      say(CREATE);
      await soon(() => expect(seen).toHaveLength(turn));
      // What the process would be charged if it died now: the responses so far, and the reservation of this one.
      expect(kept.at(-1)).toMatchObject([{ cost_nano_usd: (turn - 1) * USED + STEP, isEstimated: true }]);
      report(CREATED, DONE);
      await soon(() => expect(heard).toHaveLength(2 * turn));
    }
    await soon(() => expect(kept.at(-1)).toMatchObject([{ cost_nano_usd: 3 * USED }]));
    client.end();
    expect(await record()).toMatchObject({
      usage_source: 'provider',
      usage: { input_tokens: 60, output_tokens: 30 },
      cost_nano_usd: 3 * USED,
      attempts: [{ cost_nano_usd: 3 * USED, charges: [{ counter: budget.id, leased: 3 * USED }] }],
    });
  });

  it('is closed with 1008 and an error event when the budget does not cover the next response', async () => {
    const { say, report, seen, heard, closeCode, record } = await aSession([aBudget(OPENING + STEP + USED)]);
    for (let turn = 1; turn <= 2; turn++) {
      say(CREATE);
      await soon(() => expect(seen).toHaveLength(turn));
      report(CREATED, DONE);
      await soon(() => expect(heard).toHaveLength(2 * turn));
    }
    say(CREATE);
    expect(await closeCode()).toEqual({ code: 1008, reason: 'budget_exceeded' });
    expect(seen).toHaveLength(2);
    expect(JSON.parse(heard.at(-1) ?? '')).toMatchObject({
      type: 'error',
      error: { type: 'budget_error', code: 'budget_exceeded' },
    });
    expect(await record()).toMatchObject({
      ending: 'completed',
      error_code: 'budget_exceeded',
      cost_nano_usd: 2 * USED,
    });
  });

  it('reserves each of several responses that the client requests at once, and passes none of too many', async () => {
    const enough = await aSession([aBudget(3 * STEP + 600)]);
    enough.say(CREATE, CREATE, CREATE);
    await soon(() => expect(enough.seen).toHaveLength(3));

    const tooFew = await aSession([aBudget(3 * STEP)]);
    tooFew.say(...Array<object>(20).fill(CREATE));
    expect(await tooFew.closeCode()).toMatchObject({ reason: 'budget_exceeded' });
    expect(tooFew.seen).toEqual([]);
  });

  it('ends when the provider begins a response that no budget covers', async () => {
    const { report, closeCode } = await aSession([aBudget(OPENING + OUTPUT - 1)]);
    report(CREATED);
    expect(await closeCode()).toEqual({ code: 1008, reason: 'budget_exceeded' });
  });

  it('waits for a running response before it is refused the next one', async () => {
    const { say, report, seen, heard, closeCode } = await aSession([aBudget(2 * STEP)]);
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(1));
    report(CREATED);
    await soon(() => expect(heard).toHaveLength(1));
    say({ type: 'conversation.item.create', text: 'x'.repeat(400) }, CREATE);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seen).toHaveLength(1);
    report(DONE);
    await soon(() => expect(heard.length).toBeGreaterThanOrEqual(2));
    await Promise.race([soon(() => expect(seen).toHaveLength(3)), closeCode()]);
  });

  it('reserves more as the client sends more, and closes when that is refused', async () => {
    const { say, closeCode, seen } = await aSession([aBudget(STEP + 600)]);
    for (let at = 0; at < 20; at++) say({ type: 'conversation.item.create', text: 'x'.repeat(200) });
    expect(await closeCode()).toEqual({ code: 1008, reason: 'budget_exceeded' });
    expect(seen.length).toBeLessThan(5);
  });

  it('is charged the reservation of a response that reports zero beside its output', async () => {
    const { say, report, seen, heard, client, record } = await aSession([aBudget(10_000)]);
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(1));
    const usage = { input_tokens: 0, output_tokens: 0 };
    report(CREATED, { type: 'response.output_audio.delta', delta: 'AAAA' });
    report({ type: 'response.done', response: { status: 'completed', usage } });
    await soon(() => expect(heard).toHaveLength(3));
    client.end();
    expect(await record()).toMatchObject({ usage_source: 'estimated', cost_nano_usd: STEP });
  });

  it('takes a message with a member twice for a request of the largest response', async () => {
    const { sayRaw, say, report, seen, kept } = await aSession([aBudget(10_000)]);
    say({ type: 'session.update', session: { max_output_tokens: 7 } });
    report({ type: 'session.updated', session: { max_output_tokens: 7 } });
    await soon(() => expect(seen).toHaveLength(1));
    for (const text of [
      '{"type":"response.create","type":"ping"}',
      '{"type":"response.create","response":{},"response":{"max_output_tokens":1}}',
    ])
      sayRaw(text);
    await soon(() => expect(seen).toHaveLength(3));
    expect(kept.at(-1)).toMatchObject([{ cost_nano_usd: 2 * STEP }]);
  });

  it('passes settings without a reservation, and reserves the output that they allow', async () => {
    const { say, report, heard, kept, seen } = await aSession([aBudget(256 + 7 + 2)]);
    say({ type: 'session.update', session: { max_output_tokens: 7 } });
    await soon(() => expect(seen).toEqual(['session.update']));
    report({ type: 'session.updated', session: { max_output_tokens: 7 } });
    await soon(() => expect(heard).toHaveLength(1));
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(2));
    expect(kept.at(-1)).toMatchObject([{ usage: { input_tokens: 256, output_tokens: 7 } }]);
  });

  const UNCONFIRMED = { type: 'session.update', session: { max_output_tokens: 7 } };
  const RAISED = { type: 'response.create', response: { max_output_tokens: 'inf' } };
  it.each<{ readonly maximum: string; readonly messages: readonly object[] }>([
    { maximum: 'its provider did not confirm', messages: [UNCONFIRMED, CREATE] },
    { maximum: 'a response raises', messages: [RAISED] },
  ])('reserves no less than the provider may produce: a maximum that $maximum', async ({ messages }) => {
    const { say, report, heard, closeCode } = await aSession([aBudget(256 + 7 + 2)]);
    if (messages.length === 1) {
      report({ type: 'session.updated', session: { max_output_tokens: 7 } });
      await soon(() => expect(heard).toHaveLength(1));
    }
    say(...messages);
    expect(await closeCode()).toEqual({ code: 1008, reason: 'budget_exceeded' });
  });

  it('is charged the reservation of a response without an end on record, and marked as an estimate', async () => {
    const { say, report, seen, heard, client, record } = await aSession([aBudget(10_000)]);
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(1));
    report(CREATED);
    await soon(() => expect(heard).toHaveLength(1));
    client.end();
    expect(await record()).toMatchObject({
      usage_source: 'estimated',
      cost_nano_usd: STEP,
      attempts: [{ isEstimated: true, charges: [{ leased: STEP }] }],
    });
  });

  it('is charged the reservation of a response that ends without usage, and nothing for one that failed', async () => {
    const { say, report, seen, client, heard, record } = await aSession([aBudget(10_000)]);
    say(CREATE, CREATE);
    await soon(() => expect(seen).toHaveLength(2));
    report(CREATED, { type: 'response.done', response: { status: 'completed' } });
    report(CREATED, { type: 'response.done', response: { status: 'failed', usage: null } });
    await soon(() => expect(heard).toHaveLength(4));
    client.end();
    expect(await record()).toMatchObject({ cost_nano_usd: STEP, attempts: [{ isEstimated: true }] });
  });

  it.each([
    ['without a price', { type: 'tokens', input_tokens: 8, output_tokens: 2 }, 10],
    ['by the second, without a price', { type: 'duration', seconds: 5 }, 50],
  ])('is charged a transcription %s at the price of its own model', async (_, usage, cost) => {
    const { report, heard, client, record } = await aSession([aBudget(10_000)]);
    report(
      { type: 'session.created', session: { input_audio_transcription: { model: 'unpriced' } } },
      { type: 'conversation.item.input_audio_transcription.completed', usage },
    );
    await soon(() => expect(heard).toHaveLength(2));
    client.end();
    expect(await record()).toMatchObject({
      usage_source: 'estimated',
      cost_nano_usd: cost,
      attempts: [{ charges: [{ leased: cost }] }],
    });
  });

  it('returns all that it did not use', async () => {
    const budget = aBudget(10_000);
    const { say, report, seen, heard, client, record, taken, limiter } = await aSession([budget]);
    say(CREATE, CREATE, CREATE);
    await soon(() => expect(seen).toHaveLength(3));
    report(CREATED, DONE, CREATED, DONE, CREATED, DONE);
    await soon(() => expect(heard).toHaveLength(6));
    client.end();
    await record();
    await limiter.onApplicationShutdown();
    expect(taken(budget)).toBe(3 * USED);
  });
});

describe('a session under other limits', () => {
  it('counts each response as one request, the first with its handshake', async () => {
    const rate = aLimit({ amount: 3, failsClosed: true });
    const { say, report, seen, heard, closeCode } = await aSession([rate]);
    for (let turn = 1; turn <= 3; turn++) {
      say(CREATE);
      await soon(() => expect(seen).toHaveLength(turn));
      report(CREATED, DONE);
      await soon(() => expect(heard).toHaveLength(2 * turn));
    }
    say(CREATE);
    expect(await closeCode()).toEqual({ code: 1013, reason: 'rate_limited' });
  });

  it('counts against concurrency once, until it ends', async () => {
    const limit = slots(1);
    const { say, seen, client, record, limiter, taken } = await aSession([limit]);
    say(CREATE, CREATE, CREATE);
    await soon(() => expect(seen).toHaveLength(3));
    expect(taken(limit)).toBe(1);
    client.end();
    await record();
    await limiter.onApplicationShutdown();
    expect(taken(limit)).toBe(0);
  });

  it.each([
    ['tokens of a rate', aLimit({ measure: 'tokens', amount: OPENING + STEP + USED }), 1013, 'rate_limited'],
    ['tokens of a budget', aBudget(OPENING + STEP + USED, { type: 'tokens' }), 1008, 'budget_exceeded'],
  ])('is closed when the %s are used up', async (_, limit, code, reason) => {
    const { say, report, seen, heard, closeCode } = await aSession([limit]);
    for (let turn = 1; turn <= 2; turn++) {
      say(CREATE);
      await soon(() => expect(seen).toHaveLength(turn));
      report(CREATED, DONE);
      await soon(() => expect(heard).toHaveLength(2 * turn));
    }
    say(CREATE);
    expect(await closeCode()).toEqual({ code, reason });
  });

  it('is closed with 1013 under a budget whose store is unavailable', async () => {
    const store = new MemoryLimitStore();
    const { say, closeCode } = await aSession([aBudget(10_000)], { store });
    store.isUnavailable = true;
    say(CREATE);
    expect(await closeCode()).toEqual({ code: 1013, reason: 'limits_unavailable' });
  });

  it('obeys limits that were set after it began', async () => {
    const { say, reservations, closeCode, seen } = await aSession(null);
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(1));
    const limits = { limits: [aBudget(10)], policies: [] };
    reservations.follow(aCaller({ limits }), {
      virtualKey: null,
      provider: findProvider('openai'),
    } as Target);
    say(CREATE);
    expect(await closeCode()).toEqual({ code: 1008, reason: 'budget_exceeded' });
  });
});

describe('a session without limits', () => {
  it('keeps what it used for the case that its process dies, and what its running responses may use', async () => {
    const { report, heard, kept, client, record } = await aSession(null);
    report(CREATED);
    await soon(() => expect(kept.at(-1)).toMatchObject([{ cost_nano_usd: OUTPUT, isEstimated: true }]));
    report(DONE);
    await soon(() => expect(kept.at(-1)).toMatchObject([{ cost_nano_usd: USED }]));
    expect(kept.at(-1)?.[0]).not.toHaveProperty('charges');
    report(CREATED);
    await soon(() => expect(heard).toHaveLength(3));
    client.end();
    expect(await record()).toMatchObject({
      usage_source: 'estimated',
      // The context of the second response is at least what the first one reported.
      cost_nano_usd: USED + 256 + OUTPUT,
    });
  });

  it('has no cost where its model has no price', async () => {
    const { report, heard, client, record } = await aSession(null, { price: null });
    report(CREATED, DONE);
    await soon(() => expect(heard).toHaveLength(2));
    client.end();
    expect(await record()).toMatchObject({ usage_source: 'provider', cost_nano_usd: null });
  });
});

describe('the handshake', () => {
  const USED_UP = [
    ['an exhausted budget', () => aBudget(0), 'budget_exceeded'],
    ['an exhausted token budget', () => aBudget(0, { type: 'tokens' }), 'budget_exceeded'],
    ['an exhausted rate', () => aLimit({ amount: 0 }), 'rate_limited'],
    ['no free slot', () => slots(0), 'concurrency_limited'],
  ] as const;

  it.each(
    PLACES.flatMap((place) => USED_UP.map(([name, limit, code]) => [place, name, limit, code] as const)),
  )('under a limit of the %s is refused by %s', async (place, _, limit, code) => {
    await expect(aSession([limit()], { place })).rejects.toMatchObject({ code });
  });

  it.each(PLACES)(
    'under a dollar budget of the %s is refused where the model has no price',
    async (place) => {
      await expect(aSession([aBudget(10_000)], { price: null, place })).rejects.toMatchObject({
        code: 'price_unknown',
      });
    },
  );
});

describe('the next response', () => {
  const ONE_LEFT = [
    ['requests', () => aLimit({ amount: 1 }), 1013, 'rate_limited'],
    ['tokens of a rate', () => aLimit({ measure: 'tokens', amount: OPENING + STEP }), 1013, 'rate_limited'],
    ['tokens of a budget', () => aBudget(OPENING + STEP, { type: 'tokens' }), 1008, 'budget_exceeded'],
    ['dollars', () => aBudget(OPENING + STEP), 1008, 'budget_exceeded'],
  ] as const;

  it.each(
    PLACES.flatMap((place) =>
      ONE_LEFT.map(([kind, limit, code, reason]) => [place, kind, limit, code, reason] as const),
    ),
  )('under a limit of the %s on %s is refused when only one fits', async (place, _, limit, code, reason) => {
    const { say, report, seen, heard, closeCode } = await aSession([limit()], { place });
    say(CREATE);
    await soon(() => expect(seen).toHaveLength(1));
    report(CREATED, DONE);
    await soon(() => expect(heard).toHaveLength(2));
    say(CREATE);
    expect(await closeCode()).toEqual({ code, reason });
    expect(seen).toHaveLength(1);
  });
});
