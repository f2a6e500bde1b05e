import { describe, expect, it } from 'vitest';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import { ACCOUNT_FIELDS } from '../../routing-config/account-fields.js';
import { catalog } from '../../providers/catalog/index.js';
import type { CompiledConfig, Plan, PlannedTarget } from '../types/plan.js';
import { planFromConfig } from './plan-from-config.js';

function compiled(document: object): CompiledConfig {
  const read = readRoutingConfig(document, 'sent');
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  return planFromConfig(read.config, null);
}

const planOf = (document: object): Plan => compiled(document).plan;

function targetsOf(plan: Plan): PlannedTarget[] {
  switch (plan.kind) {
    case 'target':
      return [plan];
    case 'fallback':
      return plan.targets.flatMap(targetsOf);
    case 'loadbalance':
      return plan.targets.flatMap(({ plan: one }) => targetsOf(one));
    case 'conditional':
      return plan.branches.flatMap(({ plan: one }) => targetsOf(one));
  }
}

describe('planFromConfig', () => {
  it('lets targets inherit what they do not say themselves, at any depth', () => {
    const plan = planOf({
      strategy: { mode: 'fallback', cb_config: { failure_threshold: 3 } },
      retry: { attempts: 2 },
      cache: { mode: 'simple' },
      request_timeout: 1_000,
      custom_host: 'https://example.com',
      forward_headers: ['X-A'],
      strict_open_ai_compliance: false,
      before_request_hooks: ['pg-1'],
      override_params: { model: 'gpt-4o', temperature: 0 },
      default_params: { max_tokens: 1 },
      drop_params: ['user'],
      targets: [
        {
          strategy: { mode: 'loadbalance' },
          request_timeout: 500,
          targets: [
            {
              provider: 'openai',
              override_params: { temperature: 1 },
              drop_params: ['tools[*].strict', 'a.b[0]'],
            },
            { provider: 'groq', retry: { attempts: 0 }, cb_config: { failure_threshold: 9 } },
          ],
        },
      ],
    });
    const [first, second] = targetsOf(plan);

    expect(first).toMatchObject({
      path: 'config.targets[0].targets[0]',
      customHost: 'https://example.com',
      timeoutMs: 500,
      isStrict: false,
      retry: { attempts: 2, heedsProvider: false },
      cache: { mode: 'simple' },
      breaker: { failures: 3 },
      hooks: { before_request_hooks: ['pg-1'] },
      params: {
        overrides: { model: 'gpt-4o', temperature: 1 },
        defaults: { max_tokens: 1 },
        drops: [['user'], ['tools', '*', 'strict'], ['a', 'b', 0]],
      },
    });
    expect([...(first?.forwarded ?? [])]).toEqual(['x-a']);
    expect(second).toMatchObject({ retry: { attempts: 0 }, breaker: { failures: 9 } });
    expect(second?.params?.overrides).toEqual({ model: 'gpt-4o', temperature: 0 });
  });

  it('finds the place in a slug, a provider, and a model that names one', () => {
    const places = targetsOf(
      planOf({
        strategy: { mode: 'fallback' },
        targets: [
          { virtual_key: 'a' },
          { provider: '@b' },
          { override_params: { model: '@c/gpt-4o' } },
          {
            provider: 'bedrock',
            aws_region: 'eu-west-1',
            aws_access_key_id: 'AKIA',
            aws_secret_access_key: 's',
          },
          { retry: { attempts: 1 } },
        ],
      }),
    );

    expect(places.map(({ where }) => where?.virtualKey)).toEqual(['a', 'b', 'c', undefined, undefined]);
    expect(places[2]?.params?.overrides).toEqual({ model: 'gpt-4o' });
    expect(places[3]?.where).toMatchObject({
      provider: 'bedrock',
      account: { 'aws-region': 'eu-west-1', 'aws-access-key-id': 'AKIA' },
    });
    const written = places[3]?.where;
    expect(written?.provider === undefined ? null : written.key?.reveal()).toBe('s');
    expect(places[4]?.where).toBeNull();
  });

  it('takes the first target of "single", and leaves out what has no weight', () => {
    const single = planOf({
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'a' }, { virtual_key: 'b' }],
    });
    const balanced = planOf({
      strategy: { mode: 'loadbalance' },
      targets: [{ virtual_key: 'a', weight: 0 }, { virtual_key: 'b' }],
    });

    expect(single).toMatchObject({ kind: 'target', path: 'config.targets[0]' });
    expect(targetsOf(balanced).map(({ path }) => path)).toEqual(['config.targets[1]']);
  });

  it('says how many places there are, and whether a request may be sent again', () => {
    expect(compiled({ virtual_key: 'a' })).toMatchObject({ targetCount: 1, sendsAgain: false });
    expect(compiled({ virtual_key: 'a', retry: { attempts: 1 } })).toMatchObject({ sendsAgain: true });
    expect(
      compiled({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'a' }, { virtual_key: 'b' }] }),
    ).toMatchObject({ targetCount: 2, sendsAgain: true });
  });

  it('knows every field of an account that the catalogue has, except those of stored credentials only', () => {
    const rows = catalog.flatMap(({ rows: some }) => some);
    const names = rows.flatMap(({ fields = [], accountHeaders = [] }) => [
      ...fields.filter(({ isStoredOnly }) => !isStoredOnly).map(({ name }) => name),
      ...accountHeaders.map(({ field }) => field),
    ]);

    expect([...new Set(names)].map((name) => name.replaceAll('-', '_')).sort()).toEqual(
      [...ACCOUNT_FIELDS].sort(),
    );
  });
});
