import type { Settings } from '../common/settings/settings.js';
import { Egress } from './egress.js';
import { ruleFor } from '../common/net/egress-allow.js';

/**
 * Connections to a destination that the operator named in a setting. Naming it there allows it, so it need not be opened
 * once more by `GATEHOUSE_EGRESS_ALLOW`, which would open it to every tenant as well. Everything else is judged as always.
 */
export function operatorEgress(
  { egressAllow, timeouts }: Pick<Settings, 'egressAllow' | 'timeouts'>,
  url: URL | null,
  connections: number,
): Egress {
  const own = url === null ? [] : ruleFor(url).rules;
  return new Egress({ allow: [...egressAllow, ...own], timeouts, connections });
}
