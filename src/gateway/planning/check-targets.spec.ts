import { describe, expect, it } from 'vitest';
import type { RoutingConfig } from '../../routing-config/document.js';
import { readGatewayHeaders } from '../types/gateway-headers.js';
import { checkNamedKey } from './config-plans.js';
import { planFromConfig } from './plan-from-config.js';

const check = (config: RoutingConfig, headers: Record<string, string>) => () => {
  checkNamedKey(planFromConfig(config, null), readGatewayHeaders(headers));
};

describe('a virtual key that a request names beside a config', () => {
  const key = { 'x-gateway-virtual-key': 'mine' };

  it.each([
    ['a provider', { provider: 'sandbox' }],
    ['another virtual key', { virtual_key: 'other' }],
    [
      'other places in all of its targets',
      { strategy: { mode: 'fallback' }, targets: [{ provider: 'openai' }, { virtual_key: 'other' }] },
    ],
  ] as [string, RoutingConfig][])('is refused when the config names %s', (_, config) => {
    expect(check(config, key)).toThrow(/names the virtual key "mine"/);
    expect(check(config, { 'x-gateway-provider': '@mine' })).toThrow(/names the virtual key "@mine"/);
    expect(check(config, {})).not.toThrow();
    expect(check(config, { 'x-gateway-provider': 'openai' })).not.toThrow();
  });

  it.each([
    ['the same key', { virtual_key: '@mine' }],
    [
      'the same key in one target',
      { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'other' }, { provider: '@mine' }] },
    ],
    ['no place', { retry: { attempts: 1 } }],
    [
      'no place in one target',
      { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'other' }, { weight: 1 }] },
    ],
  ] as [string, RoutingConfig][])('is accepted when the config names %s', (_, config) => {
    expect(check(config, key)).not.toThrow();
  });
});
