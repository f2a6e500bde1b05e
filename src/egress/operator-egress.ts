import type { Settings } from '../common/settings/settings.js';
import { Egress } from './egress.js';
import { ruleFor } from '../common/net/egress-allow.js';

/** Settings of outgoing connections. */
export type EgressSettings = Pick<Settings, 'egressAllow' | 'timeouts'> & Partial<Pick<Settings, 'proxies'>>;

/**
 * Connections to a destination from a setting of the operator. The setting itself allows it, so it need not be in `GATEHOUSE_EGRESS_ALLOW`,
 * which would allow it to every tenant as well. Everything else is checked as usual.
 */
export function operatorEgress(
  { egressAllow, timeouts, proxies }: EgressSettings,
  url: URL | null,
  connections: number,
): Egress {
  const own = url === null ? [] : ruleFor(url).rules;
  return new Egress({ allow: [...egressAllow, ...own], timeouts, proxies, connections });
}
