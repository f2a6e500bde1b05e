import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { AppError } from '../../common/errors/app-error.js';
import { ConfigPlans } from './config-plans.js';

const plans = (): ConfigPlans =>
  new ConfigPlans({ find: () => null, slugs: () => Promise.resolve(['pc-checkout', 'pc-search']) });
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

describe('a config that does not exist', () => {
  const refusalOf = async (found: ConfigPlans, name: string): Promise<string> =>
    Promise.resolve(found.find(CALLER, name)).then(
      () => 'found',
      (error: unknown) => (error as AppError).message,
    );

  it('is refused with the nearest slug, or with none that is near', async () => {
    expect(await refusalOf(plans(), 'pc-chekout')).toBe(
      'There is no such config "pc-chekout" (did you mean "pc-checkout"?).',
    );
    expect(await refusalOf(plans(), 'summaries')).toBe('There is no such config "summaries".');
  });

  it('is refused without a suggestion while the store is unavailable', async () => {
    const slugs = () => Promise.reject(new AppError('auth_unavailable'));
    const found = new ConfigPlans({ find: () => Promise.resolve(null), slugs });

    expect(await refusalOf(found, 'pc-chekout')).toBe('There is no such config "pc-chekout".');
  });
});
