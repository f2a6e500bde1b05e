import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRoutingConfig } from './routing-config.js';
import type { ConfigOrigin } from './rules.js';

const TARGET = { virtual_key: 'openai-prod' };

function mistakesOf(document: unknown, origin?: ConfigOrigin) {
  return readRoutingConfig(document, origin).mistakes ?? [];
}

const pathsOf = (document: unknown, origin?: ConfigOrigin): string[] =>
  mistakesOf(document, origin).map(({ path }) => path);

function nested(levels: number): object {
  return levels === 0 ? TARGET : { strategy: { mode: 'single' }, targets: [nested(levels - 1)] };
}

describe('readRoutingConfig', () => {
  it.each<[object, string[]]>([
    [{ mode: 'semantic', threshold: 0.9 }, []],
    [{ mode: 'semantic', embedding: { virtualKey: '@v', model: 'm' } }, []],
    [{ mode: 'off' }, []],
    [{ mode: 'likely' }, ['cache.mode']],
    [{ mode: 'semantic', threshold: 0.5 }, ['cache.threshold']],
    [{ mode: 'semantic', threshold: 1.1 }, ['cache.threshold']],
    [{ mode: 'semantic', embedding: { model: 'm' } }, ['cache.embedding.virtual_key']],
    [{ mode: 'semantic', embedding: 'm' }, ['cache.embedding']],
    [{ mode: 'simple', max_age: 0, vectors: 1 }, ['cache.max_age', 'cache.vectors']],
  ])('says at which target %j is no way of caching', (cache, mistakes) => {
    const targets = [TARGET, { ...TARGET, cache }];

    expect(pathsOf({ strategy: { mode: 'fallback' }, targets })).toEqual(
      mistakes.map((path) => `config.targets[1].${path}`),
    );
  });

  it('takes every field of the document as it was written', () => {
    const document = {
      strategy: {
        mode: 'conditional',
        conditions: [
          { query: { $or: [{ 'metadata.plan': { $eq: 'paid' } }], 'params.n': { $lte: 2 } }, then: 'a' },
        ],
        default: 'b',
      },
      retry: { attempts: 5, on_status_codes: [429, 529], use_retry_after_header: true },
      cache: { mode: 'simple', max_age: 3600 },
      request_timeout: 10_000,
      forward_headers: ['x-custom'],
      input_guardrails: ['pg-1', { 'default.contains': { words: ['a'] }, deny: true }],
      before_request_hooks: [
        {
          type: 'guardrail',
          id: 'g1',
          deny: true,
          checks: [{ id: 'default.regexMatch', parameters: { rule: 'a' } }],
        },
      ],
      targets: [
        {
          name: 'a',
          strategy: {
            mode: 'loadbalance',
            sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 },
          },
          targets: [
            {
              ...TARGET,
              weight: 0.7,
              override_params: { model: 'gpt-4o' },
              drop_params: ['tools[*].strict', 'n'],
            },
            { provider: '@anthropic-prod', weight: 0.3, default_params: { max_tokens: 100 } },
          ],
        },
        {
          name: 'b',
          provider: 'azure-openai',
          azure_resource_name: 'res',
          custom_host: 'https://example.com/v1',
          strict_open_ai_compliance: false,
          cb_config: { failure_threshold: 5, cooldown_interval: 30_000 },
        },
      ],
    };

    expect(readRoutingConfig(document)).toEqual({ config: document });
  });

  it('reports all mistakes at once, each with its path', () => {
    const document = {
      strategy: { mode: 'roundrobin', on_status_codes: [42] },
      retry: { attempts: 6, on_status_codes: ['429'] },
      cache: { max_age: -1 },
      typo: 1,
      targets: [
        { ...TARGET, weight: -1, api_key: 'sk-1' },
        { provider: 'openai', weight: NaN, request_timeout: 1.5 },
        'nothing',
        { custom_host: 'ftp://x', forward_headers: ['Host', 'x-gateway-api-key'] },
      ],
    };

    // NaN makes the whole document unsound, so it is tested separately.
    expect(mistakesOf(document)).toEqual([
      { path: 'config.targets[1].weight', message: 'must be a finite number' },
    ]);
    Object.assign(document.targets[1] as object, { weight: '1' });
    expect(pathsOf(document).sort()).toEqual([
      'config.cache.max_age',
      'config.cache.mode',
      'config.retry.attempts',
      'config.retry.on_status_codes[0]',
      'config.strategy.mode',
      'config.strategy.on_status_codes[0]',
      'config.targets[0].api_key',
      'config.targets[0].weight',
      'config.targets[1].request_timeout',
      'config.targets[1].weight',
      'config.targets[2]',
      'config.targets[3].custom_host',
      'config.targets[3].forward_headers[0]',
      'config.targets[3].forward_headers[1]',
      'config.typo',
    ]);
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['text', 'pc-1'],
    ['nothing said', {}],
    ['a name only', { name: 'x' }],
    ['targets without a strategy', { targets: [TARGET] }],
    ['a strategy without targets', { strategy: { mode: 'fallback' } }],
    ['no targets', { strategy: { mode: 'fallback' }, targets: [] }],
    ['a place beside targets', { ...TARGET, strategy: { mode: 'fallback' }, targets: [TARGET] }],
    [
      'weights that add up to nothing',
      { strategy: { mode: 'loadbalance' }, targets: [{ ...TARGET, weight: 0 }] },
    ],
    [
      'an infinite weight',
      JSON.parse('{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"x","weight":1e999}]}'),
    ],
    ['a condition for nobody', conditional([{ query: { 'params.n': 1 }, then: 'x' }])],
    ['a default for nobody', { ...conditional([{ query: { 'params.n': 1 }, then: 'a' }], 'x') }],
    [
      'two targets of one name',
      { ...conditional([{ query: { 'params.n': 1 }, then: 'a' }]), targets: [named('a'), named('a')] },
    ],
    ['a query without conditions', conditional([{ query: {}, then: 'a' }])],
    ['an unknown operator', conditional([{ query: { 'params.n': { $like: 1 } }, then: 'a' }])],
    ['an unknown field', conditional([{ query: { 'body.n': 1 }, then: 'a' }])],
    ['a pattern that is none', conditional([{ query: { 'params.n': { $regex: '[' } }, then: 'a' }])],
    ['a pattern that looks ahead', conditional([{ query: { 'params.n': { $regex: '(?=a)' } }, then: 'a' }])],
    [
      'conditions of another mode',
      {
        strategy: { mode: 'fallback', conditions: [{ query: { 'params.n': 1 }, then: 'a' }] },
        targets: [TARGET],
      },
    ],
    [
      'stickiness by nothing',
      { strategy: { mode: 'loadbalance', sticky: { enabled: true } }, targets: [TARGET] },
    ],
    ['a key without a provider', { api_key: 'sk-1' }],
    ['a prompt template', { prompt_id: 'pp-1' }],
    ['a cooldown of no time', { ...TARGET, cb_config: { cooldown_interval: 1 } }],
    ['text with NUL', { virtual_key: 'a\0b' }],
    ['text with half a pair', { virtual_key: 'a\ud800' }],
  ])('refuses %s', (_, document) => {
    expect(mistakesOf(document, 'sent')).not.toEqual([]);
  });

  it('refuses secrets in what will be saved, and takes them in what is sent', () => {
    const document = { provider: 'bedrock', aws_access_key_id: 'AKIA', aws_secret_access_key: 's' };

    expect(pathsOf(document)).toEqual(['config.aws_secret_access_key']);
    expect(pathsOf(document, 'sent')).toEqual([]);
  });

  it('reads both spellings of the switch for retry-after, and camelCase', () => {
    const read = { config: { virtual_key: 'v', retry: { attempts: 1, use_retry_after_header: true } } };

    expect(
      readRoutingConfig({ virtual_key: 'v', retry: { attempts: 1, use_retry_after_headers: true } }),
    ).toEqual(read);
    expect(readRoutingConfig({ virtualKey: 'v', retry: { attempts: 1, useRetryAfterHeader: true } })).toEqual(
      read,
    );
    expect(pathsOf({ virtualKey: 'v', virtual_key: 'w' })).toEqual(['config.virtual_key']);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the key %s wherever it is', (key) => {
    const poison = JSON.parse(
      `{"virtual_key":"v","override_params":{"a":[{"${key}":{"polluted":true}}]}}`,
    ) as object;

    expect(mistakesOf(poison)).toEqual([
      { path: 'config.override_params.a[0]', message: `must not have a key "${key}"` },
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['a', 'b', 'names the target "x", which does not exist. The targets are "a", "b"'],
    [undefined, undefined, 'names a target, and no target has a name'],
  ])('names the targets where a condition names another: %s, %s', (first, second, message) => {
    const targets = [first, second].map((name) => ({ ...TARGET, ...(name && { name }) }));
    const document = { ...conditional([{ query: { 'params.n': 1 }, then: 'x' }], 'x'), targets };

    expect(mistakesOf(document)).toEqual([
      { path: 'config.strategy.default', message },
      { path: 'config.strategy.conditions[0].then', message },
    ]);
  });

  it('refuses what is too large, too deep, too many, or contains itself, without looking closer', () => {
    const cycle: Record<string, unknown> = { ...TARGET };
    cycle['override_params'] = { cycle };
    const many = (count: number, mode = 'fallback') => ({
      strategy: { mode },
      targets: Array.from({ length: count }, () => TARGET),
    });

    expect(mistakesOf({ ...TARGET, name: 'x'.repeat(10 * 1024 * 1024) })[0]?.message).toContain(
      'larger than',
    );
    expect(mistakesOf(nested(50))[0]?.message).toContain('deeper than 50');
    expect(mistakesOf(cycle)[0]?.message).toContain('deeper than 50');
    expect(mistakesOf(nested(20))).toEqual([]);
    expect(pathsOf(many(101))).toEqual(['config.targets']);
    expect(pathsOf(many(1_001))).toEqual(['config.targets']);
    expect(mistakesOf(many(100))).toEqual([]);
    expect(pathsOf({ strategy: { mode: 'fallback' }, targets: [many(51)] })).toEqual([
      'config.targets[0].targets',
    ]);
  });

  it('never throws, and reports a hundred mistakes at most, whatever the input', () => {
    const names = fc.constantFrom(
      'strategy',
      'targets',
      'retry',
      'weight',
      'mode',
      'conditions',
      'query',
      'then',
      'x',
    );
    const documents = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        fc.constantFrom('fallback', 'conditional', 'loadbalance', -1, NaN, undefined),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(names, tie('value'), { maxKeys: 5 }),
      ),
    })).value;

    fc.assert(
      fc.property(documents, (document) => {
        const { mistakes, ...read } = readRoutingConfig(document, 'sent') as {
          mistakes?: unknown[];
          config?: object;
        };
        expect(mistakes === undefined || (mistakes.length > 0 && mistakes.length <= 100)).toBe(true);
        if (read.config) expect(readRoutingConfig(read.config, 'sent')).toEqual({ config: read.config });
      }),
    );
  });
});

function named(name: string): object {
  return { ...TARGET, name };
}

function conditional(conditions: object[], otherwise?: string): object {
  const strategy = { mode: 'conditional', conditions, ...(otherwise ? { default: otherwise } : {}) };
  return { strategy, targets: [named('a'), named('b')] };
}
