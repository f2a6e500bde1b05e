import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { ConfigPlans } from './config-plans.js';

const plans = (): ConfigPlans => new ConfigPlans({ find: () => null });
const SENT = JSON.stringify({
  strategy: { mode: 'fallback', cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } },
  targets: [{ provider: 'openai' }, { provider: 'openai' }],
});
const CALLER = aCaller();

describe('a config that comes with the request', () => {
  it('is compiled once for a workspace', () => {
    const found = plans();

    expect(found.find(CALLER, SENT)).toBe(found.find(aCaller({ name: 'another key' }), SENT));
  });

  it.each([
    ['workspaces', aCaller({ workspaceId: '00000000-0000-7000-8000-0000000000aa' })],
    ['organizations', aCaller({ organizationId: '00000000-0000-7000-8000-0000000000bb' })],
  ])('has its own plan, and so its own breakers and loads, in each of two %s', (_what, other) => {
    const found = plans();

    expect(found.find(other, SENT)).not.toBe(found.find(CALLER, SENT));
  });
});
