import { describe, expect, it } from 'vitest';
import type { LogAttempt, LogDetail } from '../../api/logs';
import { conditionsOf } from './log-filters';
import { routeStory } from './route-story';
import { nanoOf, tokenCosts } from './token-costs';

const AT = '2026-11-25T13:03:21.402Z';
const attempt = (over: Partial<LogAttempt>): LogAttempt => ({
  attempt: 0,
  option_path: 'config.targets[0]',
  provider: 'anthropic',
  virtual_key_id: null,
  origin: 'https://api.anthropic.com',
  started_at: AT,
  first_byte_ms: 180,
  duration_ms: 181,
  status: 429,
  error_code: null,
  input_tokens: null,
  output_tokens: null,
  cost_nano_usd: null,
  estimated: false,
  reason: { kind: 'first', after_attempt: null, status: null, error_code: null, setting: null },
  charged_to: [],
  ...over,
});
const log = (over: Partial<LogDetail>) =>
  ({
    created_at: AT,
    status: 200,
    duration_ms: 2_100,
    decisions: null,
    route: [],
    provider: 'anthropic',
    virtual_key: null,
    virtual_key_id: null,
    cache_status: null,
    saved_nano_usd: null,
    error_code: null,
    ending: 'completed',
    attempts: [],
    ...over,
  }) as LogDetail;

describe('the story of a route', () => {
  it('distinguishes retries from fallbacks, in their order', () => {
    const attempts = [
      attempt({}),
      attempt({
        attempt: 1,
        started_at: '2026-11-25T13:03:21.802Z',
        reason: { kind: 'retry', after_attempt: 0, status: 429, error_code: null, setting: null },
      }),
      attempt({
        attempt: 2,
        provider: 'bedrock',
        option_path: 'config.targets[1]',
        status: 200,
        started_at: '2026-11-25T13:03:22.374Z',
        reason: {
          kind: 'fallback',
          after_attempt: 1,
          status: 429,
          error_code: null,
          setting: 'config.strategy.on_status_codes',
        },
        output_tokens: 204,
        cost_nano_usd: 3_060_000,
        charged_to: [{ limit_id: 'a', measure: 'cost', subject: 'api_key', name: 'support-bot' }],
      }),
    ];
    const decision = {
      kind: 'condition',
      path: 'config',
      target: 'config.targets[0]',
      condition: 0,
    } as const;
    const story = routeStory(
      log({
        config: { slug: 'pc-prod', name: 'prod', version: 7 },
        route: [{ ...decision, by: null, after_ms: null, text: 'config: …' }],
        attempts,
      }),
    );

    expect(story.map(({ icon, atMs }) => [icon, atMs])).toEqual([
      ['route', 0],
      ['failed', 0],
      ['retry', 400],
      ['done', 972],
      ['done', 2_100],
    ]);
    expect(story[0]).toMatchObject({
      title: 'Config prod v7 chose the target',
      text: 'Condition 1 matched, so the request went to target 1.',
    });
    expect(story[1]?.title).toBe('anthropic (target 1) returned 429');
    expect(story[2]?.title).toBe('Retried anthropic (target 1), which returned 429');
    expect(story[2]?.text).toMatch(/^The target retries after status 429 by default\./);
    expect(story[3]?.title).toBe('Fell back to bedrock (target 2), which returned 200');
    expect(story[3]?.text).toMatch(/^The status 429 is in strategy\.on_status_codes\./);
    expect(story[3]?.text).toMatch(/Charged to API key support-bot\.$/);
  });
});

describe('the sentences of a route', () => {
  it('counts nested targets from one, and names settings without their path', () => {
    const option_path = 'config.targets[0].targets[1]';
    const reason = {
      kind: 'retry',
      after_attempt: 0,
      status: 429,
      error_code: null,
      setting: `${option_path}.retry.on_status_codes`,
    } as const;
    const decision = { path: 'config.targets[0]', target: option_path, after_ms: null, text: '' } as const;
    const story = routeStory(
      log({
        config: { slug: 'pc-prod', name: 'prod', version: 7 },
        route: [
          { ...decision, kind: 'condition', condition: 1, by: null },
          { ...decision, kind: 'default', condition: null, by: null },
          { ...decision, kind: 'balance', condition: null, by: 'weight' },
        ],
        attempts: [attempt({ option_path, reason })],
      }),
    );

    expect(story[0]?.text).toBe(
      'Condition 2 of target 1 matched, so the request went to target 1.2. ' +
        'No condition of target 1 matched, so the request went to the default, target 1.2. ' +
        'Load balancing chose target 1.2 by weight.',
    );
    expect(story[1]?.title).toBe('Retried anthropic (target 1.2), which returned 429');
    expect(story[1]?.text).toMatch(/^The status 429 is in retry\.on_status_codes\./);
  });

  it('says nothing of money where an attempt cost nothing', () => {
    const refused = attempt({
      cost_nano_usd: 0,
      charged_to: [{ limit_id: 'a', measure: 'cost', subject: 'api_key', name: 'support-bot' }],
    });
    expect(routeStory(log({ attempts: [refused] }))[1]?.text).not.toMatch(/\$|[Cc]harged/);
  });

  it('of a refused request shows the refusal, and names no provider', () => {
    const story = routeStory(log({ status: 402, error_code: 'budget_exceeded', ending: 'refused' }));
    expect(story.at(-1)).toMatchObject({
      tone: 'error',
      text: 'No provider received the request. The gateway refused the request: budget_exceeded.',
    });
  });

  it('of a cached response shows what it saved', () => {
    expect(routeStory(log({ cache_status: 'HIT', saved_nano_usd: 4_100_000 })).at(-1)?.text).toBe(
      'No provider received the request. The cache saved $0.0041.',
    );
  });
});

it('a breakdown counts no token twice, and adds up to what was charged', () => {
  const usage = {
    input_tokens: 880,
    output_tokens: 204,
    cached_input_tokens: 512,
    cache_write_tokens: null,
    reasoning_tokens: null,
    audio_input_tokens: null,
    audio_output_tokens: null,
  };
  const price = {
    source: 'list',
    model: 'claude',
    usd_per_million_tokens: { input: 3, cached_input: 0.3, output: 15 },
  } as const;
  const costs = tokenCosts(usage, attempt({ price: price }));

  expect(costs.map(({ kind, tokens }) => [kind, tokens])).toEqual([
    ['input', 368],
    ['cached_input', 512],
    ['output', 204],
  ]);
  expect(costs.map(nanoOf)).toEqual([1_104_000, 153_600, 3_060_000]);
});

it('filters become the parameters of the interface', () => {
  const filters = [
    { field: 'status', operator: 'is', value: '429' },
    { field: 'status', operator: 'is', value: '500' },
    { field: 'status', operator: 'max', value: '499' },
    { field: 'model', operator: 'not', value: 'gpt-5' },
    { field: 'model', operator: 'not', value: 'o3' },
    { field: 'latency', operator: 'min', value: '1000' },
  ] as const;
  expect(conditionsOf(filters)).toEqual({
    status_code: '429,500',
    status_code_max: '499',
    not_model: 'gpt-5,o3',
    response_time_min: '1000',
  });
});
