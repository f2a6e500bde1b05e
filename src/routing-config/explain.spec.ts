import { describe, expect, it } from 'vitest';
import { readRoutingConfig } from './routing-config.js';
import type { RoutedRequest } from './conditions.js';
import { explainRouting, type Explanation } from './explain.js';

const REQUEST: RoutedRequest = {
  metadata: { plan: 'paid', user: 'ada' },
  params: { model: 'gpt-4o' },
  pathname: '/v1/chat/completions',
  headers: {},
};

function explained(document: object, request = REQUEST): Explanation {
  const read = readRoutingConfig(document);
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  return explainRouting(read.config, request);
}

describe('explainRouting', () => {
  it('names the one place of a config without a strategy', () => {
    expect(explained({ virtual_key: 'v', retry: { attempts: 2 } })).toEqual({
      decisions: [],
      targets: [
        {
          path: 'config',
          name: null,
          virtual_key: 'v',
          provider: null,
          model: 'gpt-4o',
          weight: null,
          token_price: null,
          share: 1,
          after: null,
          retries: 2,
        },
      ],
    });
  });

  it('names the condition that held and the targets in order, with the models of each', () => {
    const { decisions, targets } = explained({
      strategy: {
        mode: 'conditional',
        conditions: [
          { query: { 'metadata.plan': 'free' }, then: 'cheap' },
          { query: { 'metadata.plan': 'paid' }, then: 'good' },
        ],
      },
      override_params: { model: 'gpt-5' },
      targets: [
        { name: 'cheap', virtual_key: 'c' },
        {
          name: 'good',
          strategy: { mode: 'fallback' },
          retry: { attempts: 1 },
          targets: [
            { provider: 'openai' },
            { override_params: { model: '@claude/opus' } },
            { provider: '@groq' },
          ],
        },
      ],
    });

    expect(decisions).toEqual(['config: conditions[1] holds, so config.targets[1]']);
    expect(targets).toMatchObject([
      { path: 'config.targets[1].targets[0]', provider: 'openai', model: 'gpt-5', after: null, retries: 1 },
      { virtual_key: 'claude', model: 'opus', after: 'config.targets[1].targets[0]', retries: 1 },
      { virtual_key: 'groq', provider: null, model: 'gpt-5', after: 'config.targets[1].targets[1]' },
    ]);
  });

  it('shows shares of a load balance, and the one target of a session', () => {
    const targets = [
      { virtual_key: 'a', weight: 3 },
      { virtual_key: 'b', weight: 1 },
      { virtual_key: 'c', weight: 0 },
    ];
    const sticky = { enabled: true, hash_fields: ['metadata.user'] };

    expect(
      explained({ strategy: { mode: 'loadbalance' }, targets }).targets.map(({ share }) => share),
    ).toEqual([0.75, 0.25]);
    expect(explained({ strategy: { mode: 'loadbalance', sticky }, targets }).targets).toHaveLength(1);
    expect(
      explained({ strategy: { mode: 'loadbalance', sticky }, targets }, { ...REQUEST, metadata: null })
        .targets,
    ).toHaveLength(2);
  });

  it('shows prices, and the cheapest target', () => {
    const document = {
      strategy: { mode: 'loadbalance', balance_by: 'cost' },
      targets: [
        { virtual_key: 'unknown' },
        { strategy: { mode: 'fallback' }, targets: [{ provider: 'dear' }, { provider: 'cheap' }] },
        { provider: 'cheap', weight: 3 },
        { provider: 'cheap' },
      ],
    };
    const read = readRoutingConfig(document);
    if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
    const prices: Readonly<Record<string, number>> = { cheap: 1, dear: 5 };
    const { decisions, targets } = explainRouting(
      read.config,
      REQUEST,
      ({ provider }) => prices[provider ?? ''] ?? null,
    );

    expect(decisions).toEqual(['config: config.targets[2], config.targets[3] at the least cost']);
    expect(targets.map(({ path, weight, token_price, share }) => [path, weight, token_price, share])).toEqual(
      [
        ['config.targets[2]', 3, 1, 0.75],
        ['config.targets[3]', 1, 1, 0.25],
        ['config.targets[1].targets[0]', 1, 5, 0],
        ['config.targets[1].targets[1]', 1, 1, 0],
        ['config.targets[0]', 1, null, 0],
      ],
    );
  });

  it("goes by the request's own headers where the config names no place", () => {
    const headers = { 'x-portkey-virtual-key': '@mine' };

    expect(explained({ retry: { attempts: 1 } }, { ...REQUEST, headers }).targets[0]).toMatchObject({
      virtual_key: 'mine',
    });
    expect(explained({ provider: 'openai' }, { ...REQUEST, headers }).targets[0]).toMatchObject({
      virtual_key: null,
      provider: 'openai',
    });
  });

  it('shows that a request would be refused', () => {
    const { decisions, targets } = explained({
      strategy: { mode: 'conditional', conditions: [{ query: { 'params.n': 1 }, then: 'a' }] },
      targets: [{ name: 'a', virtual_key: 'a' }],
    });

    expect(decisions[0]).toContain('refused');
    expect(targets).toEqual([]);
  });

  it('fills metadata._user from the user of the body, as requests do', () => {
    const { targets } = explained(
      {
        strategy: { mode: 'conditional', conditions: [{ query: { 'metadata._user': 'ada' }, then: 'a' }] },
        targets: [{ name: 'a', virtual_key: 'v' }],
      },
      { ...REQUEST, params: { model: 'gpt-4o', user: 'ada' } },
    );

    expect(targets).toHaveLength(1);
  });
});
