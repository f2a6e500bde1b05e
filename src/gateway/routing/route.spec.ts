import type { RoutedRequest } from '../../routing-config/conditions.js';
import { describe, expect, it } from 'vitest';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import { explainRouting } from '../../routing-config/explain.js';
import type { Price } from '../../common/contracts/price.js';
import { AppError } from '../../common/errors/app-error.js';
import { planFromConfig } from '../planning/plan-from-config.js';
import { NO_TRAIL } from '../types/attempt-trail.js';
import type { LoadBalance, Plan, PlannedTarget } from '../types/plan.js';
import { answered, failed, refused, walk } from '../../../test/support/routing.js';
import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import { Loads } from './loads.js';
import { NO_COSTS, pick } from './pick.js';

const REQUEST: RoutedRequest = { metadata: null, params: {}, pathname: '/v1/chat/completions', headers: {} };

function planOf(document: object): Plan {
  const read = readRoutingConfig(document);
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  return planFromConfig(read.config, null).plan;
}

type RouteOutcome = number | AppError | AttemptOutcome<TargetAnswer>;

function outcomeOf(scripted: RouteOutcome): AttemptOutcome<TargetAnswer> {
  if (typeof scripted === 'number') return answered(scripted);
  return scripted instanceof AppError ? refused(scripted) : scripted;
}

/** Walks a plan with scripted targets. Returns which targets were tried, in order, and the result. */
async function walked(
  plan: Plan,
  outcomes: RouteOutcome[],
  more: {
    isOver?: boolean;
    isRepeatable?: boolean;
    request?: RoutedRequest;
    open?: string[];
    prices?: Record<string, Price>;
  } = {},
) {
  const tried: string[] = [];
  const nameOf = ({ path }: PlannedTarget): string => path.replace('config', '');
  const walking = walk(
    plan,
    (target) => {
      tried.push(nameOf(target));
      return outcomeOf(outcomes[tried.length - 1] ?? 200);
    },
    {
      ...more,
      request: more.request ?? REQUEST,
      isOpen: (target) => more.open?.includes(nameOf(target)) ?? false,
      priceOf: (target) => more.prices?.[nameOf(target)] ?? null,
    },
  );
  const { result: heard, replaced: givenUp, decisions } = await walking;
  return { tried, heard, givenUp, decisions };
}

const three = (more: object = {}): Plan =>
  planOf({
    strategy: { mode: 'fallback', ...more },
    targets: [{ virtual_key: 'a' }, { virtual_key: 'b' }, { virtual_key: 'c' }],
  });

describe('route', () => {
  it.each([408, 429, 500, 502, 503, 529])('tries the next target after status %i', async (status) => {
    expect(await walked(three(), [status, 200])).toMatchObject({
      decisions: [],
      tried: ['.targets[0]', '.targets[1]'],
      heard: 200,
      givenUp: [status],
    });
  });

  it.each([200, 246, 301, 400, 401, 403, 404, 413, 422, 446])(
    'returns status %i as it is',
    async (status) => {
      expect(await walked(three(), [status])).toMatchObject({
        tried: ['.targets[0]'],
        heard: status,
        givenUp: [],
      });
    },
  );

  it.each([
    ['upstream_error', true],
    ['upstream_timeout', true],
    ['request_timeout', true],
    ['upstream_protocol_error', true],
    ['header_invalid', false],
    ['internal_error', false],
  ] as const)('after the failure %s, moves on: %s', async (code, isMoving) => {
    const { tried, heard } = await walked(three(), [failed(new AppError(code)), 200]);

    expect([tried.length, heard]).toEqual(isMoving ? [2, 200] : [1, code]);
  });

  it.each([
    ['not_found', true],
    ['credential_unusable', true],
    ['endpoint_unsupported', true],
    ['budget_exceeded', true],
    ['usage_unknown', true],
    ['rate_limited', true],
    ['invalid_request', false],
    ['internal_error', false],
  ] as const)('after a target is refused with %s, moves on: %s', async (code, isMoving) => {
    const { tried, heard } = await walked(three(), [new AppError(code), 200]);

    expect([tried.length, heard]).toEqual(isMoving ? [2, 200] : [1, code]);
  });

  it('follows the list of statuses where there is one, for responses and failures', async () => {
    const plan = three({ on_status_codes: [401, 503] });

    expect((await walked(plan, [500])).heard).toBe(500);
    expect((await walked(plan, [401, 503, 200])).heard).toBe(200);
    expect((await walked(plan, [failed(new AppError('upstream_error')), 200])).heard).toBe(200);
    expect((await walked(plan, [failed(new AppError('request_timeout')), 200])).heard).toBe(
      'request_timeout',
    );
  });

  it('returns the last outcome, whatever it is', async () => {
    expect(await walked(three(), [500, failed(new AppError('upstream_error')), 503])).toMatchObject({
      tried: ['.targets[0]', '.targets[1]', '.targets[2]'],
      heard: 503,
      givenUp: [500, 'upstream_error'],
    });
  });

  it('goes no further when the client left, or the request cannot be sent again', async () => {
    for (const more of [{ isOver: true }, { isRepeatable: false }])
      expect(await walked(three(), [500], more)).toMatchObject({ heard: 500, givenUp: [] });
  });

  it('sends a body that cannot be sent again to the next target if the first one was not reached', async () => {
    const unsent = (wasSent: boolean): AttemptOutcome<TargetAnswer> => ({
      ...{ kind: 'failed', error: new AppError('upstream_error'), reportedStatus: null, trail: NO_TRAIL },
      failed: { startedAt: 0, firstByteAt: null, wasSent, isReplayed: false },
    });

    expect((await walked(three(), [unsent(false), 200], { isRepeatable: false })).heard).toBe(200);
    expect((await walked(three(), [unsent(true), 200], { isRepeatable: false })).heard).toBe(
      'upstream_error',
    );
  });

  it('traverses nested plans, and moves the outer one on when an inner one failed as a whole', async () => {
    const plan = planOf({
      strategy: { mode: 'fallback' },
      targets: [
        { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'a' }, { virtual_key: 'b' }] },
        { strategy: { mode: 'loadbalance' }, targets: [{ virtual_key: 'c' }] },
      ],
    });

    expect(await walked(plan, [500, 503, 200])).toMatchObject({
      tried: ['.targets[0].targets[0]', '.targets[0].targets[1]', '.targets[1].targets[0]'],
      heard: 200,
      givenUp: [500, 503],
    });
  });

  it('takes the first condition that holds, else the default, else refuses', async () => {
    const strategy = {
      mode: 'conditional',
      conditions: [
        { query: { 'metadata.plan': 'paid' }, then: 'paid' },
        { query: { 'metadata.plan': { $ne: null } }, then: 'any' },
      ],
    };
    const targets = [
      { name: 'any', virtual_key: 'a' },
      { name: 'paid', virtual_key: 'b' },
    ];
    const plan = planOf({ strategy: { ...strategy, default: 'any' }, targets });
    const strict = planOf({ strategy, targets });
    const asked = (metadata: RoutedRequest['metadata']) => ({ request: { ...REQUEST, metadata } });

    expect((await walked(plan, [], asked({ plan: 'paid' }))).tried).toEqual(['.targets[1]']);
    expect((await walked(plan, [], asked({ plan: 'free' }))).tried).toEqual(['.targets[0]']);
    expect((await walked(plan, [], asked(null))).tried).toEqual(['.targets[0]']);
    expect(await walked(strict, [])).toMatchObject({ tried: [], heard: 'no_target', givenUp: [] });
  });
});

describe('pick', () => {
  const picked = (plan: LoadBalance, request: RoutedRequest, random = Math.random): Plan =>
    pick(plan, request, { loads: new Loads(), random, costs: NO_COSTS }).target.plan;
  const balance = (weights: number[], sticky?: string[]): LoadBalance =>
    planOf({
      strategy: {
        mode: 'loadbalance',
        ...(sticky ? { sticky: { enabled: true, hash_fields: sticky } } : {}),
      },
      targets: weights.map((weight, index) => ({ virtual_key: `v${index}`, weight })),
    }) as LoadBalance;
  const paths = (plans: Plan[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { path } of plans) counts[path] = (counts[path] ?? 0) + 1;
    return counts;
  };
  const of = (user: string): RoutedRequest => ({ ...REQUEST, metadata: { user } });

  it('gives each target its share of the draws', () => {
    const draws = Array.from({ length: 1_000 }, (_, index) =>
      picked(balance([3, 1, 0]), REQUEST, () => index / 1_000),
    );

    expect(paths(draws)).toEqual({ 'config.targets[0]': 750, 'config.targets[1]': 250 });
  });

  it('keeps a session at its target, and gives each target about its share of the sessions', () => {
    const plan = balance([3, 1], ['metadata.user']);
    const users = Array.from({ length: 4_000 }, (_, index) => of(`user-${index}`));
    const first = users.map((user) => picked(plan, user));

    expect(users.map((user) => picked(plan, user))).toEqual(first);
    expect(paths(first)['config.targets[0]']).toBeGreaterThan(2_850);
    expect(paths(first)['config.targets[0]']).toBeLessThan(3_150);
  });

  it('moves only the share of a removed target', () => {
    const users = Array.from({ length: 500 }, (_, index) => of(`user-${index}`));
    const [all, fewer] = [balance([1, 1, 1], ['metadata.user']), balance([1, 1, 0], ['metadata.user'])];

    const moved = users.filter((user) => picked(all, user).path !== picked(fewer, user).path);

    expect(moved.every((user) => picked(all, user).path === 'config.targets[2]')).toBe(true);
  });

  it('draws again for requests that have none of the fields', () => {
    const plan = balance([1, 1], ['metadata.user', 'headers.X-Session', 'params.session']);
    const drawn = (request: RoutedRequest) =>
      [0.1, 0.9].map((random) => picked(plan, request, () => random).path);

    expect(new Set(drawn(REQUEST)).size).toBe(2);
    expect(new Set(drawn({ ...REQUEST, headers: { 'x-session': 's' } })).size).toBe(1);
    expect(new Set(drawn({ ...REQUEST, params: { session: 's' } })).size).toBe(1);
  });
});

describe('a target that is out of service', () => {
  const balanced = planOf({
    strategy: { mode: 'loadbalance' },
    targets: [
      { virtual_key: 'a', weight: 1_000 },
      { virtual_key: 'b', weight: 0.001 },
    ],
  });

  it('is passed over while there is another one', async () => {
    expect((await walked(three(), [200], { open: ['.targets[0]'] })).tried).toEqual(['.targets[1]']);
    expect((await walked(balanced, [200], { open: ['.targets[0]'] })).tried).toEqual(['.targets[1]']);
  });

  it('is still called when all are', async () => {
    const open = ['.targets[0]', '.targets[1]', '.targets[2]'];

    expect((await walked(three(), [500, 500, 200], { open })).heard).toBe(200);
  });

  it('takes the branch above it along when the whole of it is out', async () => {
    const plan = planOf({
      strategy: { mode: 'fallback' },
      targets: [{ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'a' }] }, { virtual_key: 'b' }],
    });

    expect((await walked(plan, [200], { open: ['.targets[0].targets[0]'] })).tried).toEqual(['.targets[1]']);
  });
});

describe('a load balance by cost', () => {
  const price = (input: number, output: number): Price => ({
    ...{ input, output, cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
  });
  const plan = (more: object = {}) =>
    planOf({
      strategy: { mode: 'loadbalance', balance_by: 'cost', ...more },
      targets: [
        { virtual_key: 'a' },
        { virtual_key: 'b', weight: 3 },
        { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'c' }, { virtual_key: 'd' }] },
      ],
    });
  const [A, B, C, D] = ['.targets[0]', '.targets[1]', '.targets[2].targets[0]', '.targets[2].targets[1]'];

  it('takes the target whose tokens cost least, three read for one written', async () => {
    // 2.5, 2.75 and 3.25 on average.
    const prices = { [A]: price(1, 7), [B]: price(3, 2), [C]: price(4, 1), [D]: price(0, 0) };

    expect((await walked(plan(), [200], { prices })).tried).toEqual([A]);
    expect((await walked(plan(), [200], { prices, open: [A] })).tried).toEqual([B]);
    expect(await walked(plan(), [200], { prices, open: [A, B] })).toMatchObject({
      tried: [C],
      decisions: ['2 of 3 targets are out of service', 'config: config.targets[2] by cost'],
    });
    // The first of the branch that is in service.
    expect((await walked(plan(), [200], { prices, open: [C] })).tried).toEqual([D]);
  });

  it('takes one with an unknown price only when no price is known', async () => {
    const prices = { [B]: price(9_000, 9_000) };

    for (let round = 0; round < 20; round++)
      expect((await walked(plan(), [200], { prices })).tried).toEqual([B]);
    expect((await walked(plan(), [200])).heard).toBe(200);
  });

  it('draws among equals by weight, and leaves a session where it is', async () => {
    const even = new Map(
      (plan() as LoadBalance).targets.map((target, at) => [target, at === 2 ? 9 : 1] as const),
    );
    const balance = { ...(plan() as LoadBalance), targets: [...even.keys()] };
    const drawn = (random: number) =>
      pick(balance, REQUEST, { loads: new Loads(), random: () => random, costs: even }).target.path;

    expect([0.2, 0.3, 0.9].map(drawn)).toEqual([
      'config.targets[0]',
      'config.targets[1]',
      'config.targets[1]',
    ]);

    const sticky = plan({ sticky: { enabled: true, hash_fields: ['metadata.user'] } });
    const of = (user: number) => ({ request: { ...REQUEST, metadata: { user: String(user) } } });
    const prices = { [A]: price(1, 1), [B]: price(2, 2), [C]: price(3, 3) };
    const tried = new Set<string | undefined>();
    for (let user = 0; user < 40; user++)
      tried.add((await walked(sticky, [200], { ...of(user), prices })).tried[0]);
    expect(tried.size).toBe(3);
  });
});

describe('the log and the explanation of a request', () => {
  it('agree with the way that it takes', async () => {
    const document = {
      strategy: {
        mode: 'conditional',
        conditions: [{ query: { 'metadata.user': { $regex: '^user-[0-4]' } }, then: 'a' }],
        default: 'b',
      },
      targets: [
        {
          name: 'a',
          strategy: { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'] } },
          targets: [
            { virtual_key: 'a1', weight: 2 },
            { strategy: { mode: 'single' }, targets: [{ virtual_key: 'a2' }] },
          ],
        },
        {
          name: 'b',
          strategy: { mode: 'fallback' },
          targets: [{ virtual_key: 'b1' }, { virtual_key: 'b2' }],
        },
      ],
    };
    const read = readRoutingConfig(document);
    if (read.mistakes) throw new Error('not readable');

    for (let user = 0; user < 100; user++) {
      const request = { ...REQUEST, metadata: { user: `user-${user % 10}-${user}` } };
      const { tried, decisions } = await walked(planOf(document), [500, 200], { request });
      const told = explainRouting(read.config, request);

      expect(told.targets.map(({ path }) => path.replace('config', '')).slice(0, tried.length)).toEqual(
        tried,
      );
      expect(decisions).toHaveLength(told.decisions.length);
    }
  });
});
