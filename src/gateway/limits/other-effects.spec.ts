import { afterEach, describe, expect, it, type MockSettledResult, vi } from 'vitest';
import type { GatewayWishes, TestGateway } from '../../../test/support/gateway.js';
import {
  aLimitedGateway,
  aLimitedPlace,
  expectedOutcome,
  type LimitedGateway,
  outcomeOf,
  usedUpLimit,
} from '../../../test/support/limited-places.js';
import { MemoryLimitStore } from '../../../test/support/memory-limit-store.js';
import {
  aSession,
  CREATE,
  CREATED,
  DONE,
  endSessions,
  soon,
} from '../../../test/support/realtime-session.js';
import {
  LIMIT_KINDS,
  LIMIT_PLACES,
  type LimitEffectRow,
  type LimitKind,
  type LimitLevel,
  type OtherEffectId,
  otherEffectRows,
} from '../../providers/charging/limit-effects.js';
import { sessionRows } from '../../providers/charging/sessions.js';
import type { AppError } from '../../common/errors/app-error.js';
import { Limiter } from './limiter.js';
import type { LimitReservation } from '../types/limit-reservation.js';

interface UsedUpLimit {
  readonly kind: LimitKind;
  readonly place: LimitLevel;
}

/** The outcome of one kind of use under a limit that was used up before: the code of the refusal, or `passed`. */
type Scenario = (limit: UsedUpLimit) => Promise<string>;

const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
const ANSWER = {
  chunks: ['{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'],
};
const DOWN = { status: 500, headers: { 'retry-after-ms': '1' }, chunks: ['{"error":{}}'] };
const CACHED = { 'x-gateway-cache': 'simple' };
const OTHER = { 'x-gateway-virtual-key': 'other' };

const by = (config: object) => ({
  'x-gateway-virtual-key': '',
  'x-gateway-config': JSON.stringify(config),
});

let gateway: LimitedGateway | null = null;
afterEach(async () => {
  vi.restoreAllMocks();
  endSessions();
  await gateway?.close();
  gateway = null;
});

/** A gateway whose virtual key "other" has no limits. */
const given = async ({ kind, place }: UsedUpLimit, wishes: GatewayWishes = {}): Promise<LimitedGateway> =>
  (gateway = await aLimitedGateway(kind, place, {
    ...{ virtualKeys: { other: 'openai' }, answers: [ANSWER], prices: { embed: 1 } },
    ...wishes,
  }));

const request =
  (method: string, path: string): Scenario =>
  async (limit) => {
    const made = await given(limit);
    made.useUp();
    const init = { method, headers: { 'x-gateway-virtual-key': 'openai-prod' } };
    await (await made.request(path, init)).text();
    return (await made.logged()).error_code ?? 'passed';
  };

/** A second attempt, with a limit that is used up once the first has been sent. */
const secondAttempt =
  (config: object): Scenario =>
  async (limit) => {
    const down = { ...DOWN, onSent: () => made.useUp() };
    const made = await given(limit, { answers: [down, ANSWER] });
    const outcome = await outcomeOf(await made.chat(CHAT, by(config)));
    expect(made.calls).toHaveLength(outcome === 'passed' ? 2 : 1);
    return outcome;
  };

/** The same while the first attempt runs, whose response the client receives if the second is refused. */
const hedge: Scenario = async (limit) => {
  const reserve = vi.spyOn(Limiter.prototype, 'reserve');
  const second = (): MockSettledResult<LimitReservation> | undefined => reserve.mock.settledResults[1];
  const slow = { ...ANSWER, onSent: () => made.useUp(), until: () => !UNSETTLED.has(second()?.type) };
  const made = await given(limit, { answers: [slow, ANSWER] });
  const strategy = { mode: 'fallback', hedge: { after_ms: 20, max_share: 100, max_spend: 100 } };
  expect(await outcomeOf(await made.chat(CHAT, by({ strategy, targets: TWICE })))).toBe('passed');
  const isRefused = second()?.type === 'rejected';
  expect(made.calls).toHaveLength(isRefused ? 1 : 2);
  return isRefused ? (second()?.value as unknown as AppError).code : 'passed';
};
const UNSETTLED: ReadonlySet<string | undefined> = new Set([undefined, 'incomplete']);

const session =
  (path: string): Scenario =>
  async ({ kind, place: name }) => {
    const store = new MemoryLimitStore();
    const place = aLimitedPlace(name);
    place.add(usedUpLimit(kind, store));
    return aSession(null, { store, place, path }).then(
      () => 'passed',
      (error: unknown) => (error as { code: string }).code,
    );
  };

const TWICE = [{ virtual_key: 'openai-prod' }, { virtual_key: 'openai-prod' }];

const embedding: Scenario = async (limit) => {
  const vector = { chunks: ['{"data":[{"embedding":[1,1,1]}],"usage":{"prompt_tokens":1}}'] };
  const made = await given(limit, { embed: () => vector });
  made.useUp();
  const embeddingRules = { virtual_key: 'openai-prod', model: 'embed' };
  const cache = { mode: 'semantic', embedding: embeddingRules };
  await made.chat(CHAT, { ...OTHER, 'x-gateway-config': JSON.stringify({ cache }) });
  const { decisions } = await made.logged();
  const reason = /not compared by meaning: (\w+)/.exec(String(decisions))?.[1];
  expect(made.embeddings).toHaveLength(reason === undefined ? 1 : 0);
  return reason ?? 'passed';
};

const ATTEMPTS: Readonly<Record<string, Scenario>> = {
  'a retry': secondAttempt({ virtual_key: 'openai-prod', retry: { attempts: 1, on_status_codes: [500] } }),
  'a fallback': secondAttempt({ strategy: { mode: 'fallback' }, targets: TWICE }),
  'the second attempt of a hedge': hedge,
  'a side call for semantic caching': embedding,
};

const SCENARIOS: Readonly<Record<OtherEffectId, Readonly<Record<string, Scenario>>>> = {
  unknownPath: {
    'a path of tomorrow': request('POST', '/v1/a/path/of/tomorrow'),
    'a path below /v1/proxy': request('POST', '/v1/proxy/a/path/of/tomorrow'),
    'a PUT': request('PUT', '/v1/chat/completions/x1'),
    'a PATCH': request('PATCH', '/v1/chat/completions/x1'),
  },
  read: {
    'a GET': request('GET', '/v1/responses/x1'),
    'a HEAD': request('HEAD', '/v1/responses/x1'),
    'a DELETE': request('DELETE', '/v1/responses/x1'),
  },
  cacheHit: {
    'a hit': async (limit) => {
      const made = await given(limit);
      await outcomeOf(await made.chat(CHAT, CACHED));
      made.useUp();
      const outcome = await outcomeOf(await made.chat(CHAT, CACHED));
      expect(made.calls).toHaveLength(1);
      return outcome;
    },
  },
  sharedResponse: {
    'a request that waits': async (limit) => {
      let isReady = false;
      const made = await given(limit, { answers: [{ ...ANSWER, until: () => isReady }] });
      const first = made.chat(CHAT, CACHED);
      await expect.poll(() => made.calls).toHaveLength(1);
      made.useUp();
      const second = made.chat(CHAT, CACHED);
      await expect.poll(() => made.opened).toHaveLength(2);
      isReady = true;
      expect(await outcomeOf(await first)).toBe('passed');
      const outcome = await outcomeOf(await second);
      expect(made.calls).toHaveLength(1);
      return outcome;
    },
  },
  attemptUnderVirtualKey: ATTEMPTS,
  attemptElsewhere: ATTEMPTS,
  guardrailCall: {
    'a moderation': async (limit) => {
      const made = await given(limit, { answers: [{ chunks: ['{"results":[{"flagged":false}]}'] }, ANSWER] });
      made.useUp();
      const guardrail = { 'default.moderateContent': { virtual_key: 'openai-prod' } };
      await made.chat(CHAT, {
        ...OTHER,
        'x-gateway-config': JSON.stringify({ input_guardrails: [guardrail] }),
      });
      return made.calls[0]?.path.endsWith('/moderations') ? 'passed' : 'the guardrail was not called';
    },
  },
  sessionOpening: Object.fromEntries(sessionRows.map(({ path }) => [path, session(path)])),
  sessionResponse: Object.fromEntries(
    sessionRows.map(({ path }): [string, Scenario] => [
      path,
      async ({ kind, place: name }) => {
        const store = new MemoryLimitStore();
        const place = aLimitedPlace(name);
        const { say, report, seen, heard, closeCode } = await aSession(null, { store, place, path });
        say(CREATE);
        report(CREATED, DONE);
        await soon(() => expect(heard).toHaveLength(2));
        place.add(usedUpLimit(kind, store));
        say(CREATE);
        return Promise.any([
          soon(() => expect(seen).toHaveLength(2)).then(() => 'passed'),
          closeCode().then(({ reason }) => reason),
        ]);
      },
    ]),
  ),
  unknownSession: {
    'a path of tomorrow': session('/a/path/of/tomorrow'),
    'the WebSocket of responses': session('/responses'),
  },
};

/** Whether the limit is used up: it refuses a plain request. */
async function isUsedUp(made: TestGateway, kind: LimitKind): Promise<void> {
  const outcome = await outcomeOf(await made.chat({ ...CHAT, max_tokens: 11 }));
  expect(outcome).toBe(expectedOutcome('refused', kind));
}

describe.each(Object.entries<LimitEffectRow>(otherEffectRows))(
  'the row %s of the table of limits',
  (id, { effects, places = LIMIT_PLACES }) => {
    describe.each(Object.entries(SCENARIOS[id as OtherEffectId]))('%s', (_, scenario) => {
      it.each(places.flatMap((place) => LIMIT_KINDS.map((kind) => [kind, place] as const)))(
        'obeys a used-up limit of %s (%s)',
        async (kind, place) => {
          const outcome = await scenario({ kind, place });
          expect(outcome).toBe(expectedOutcome(effects[kind], kind));
          if (gateway) await isUsedUp(gateway, kind);
        },
      );
    });
  },
);
