import type { QueryCondition } from '../../request-log/reading/log-filters.js';
import type { Principal } from '../principal.js';
import { type Reach, reachOf } from '../tenant.js';

/** What of the request log, and of its sums, a caller may see within reach. */
export interface Sight extends Reach {
  /** Added to the caller's own filter. Empty for a caller that sees everything within reach. */
  readonly own: readonly QueryCondition[];
}

/**
 * A caller that may see only traffic of their own keys sees requests with keys that belong to them: service keys and signed
 * tokens belong to no user. The rollups count keys separately, so analytics need no request rows for it.
 */
export function ownTraffic(userId: string): QueryCondition {
  return {
    sql: (placeholder) =>
      `api_key_id IN (SELECT api_keys.id FROM api_keys WHERE api_keys.user_id = ${placeholder}::uuid)`,
    parameter: userId,
    on: ['api_key_id'],
    inClickHouse: {
      column: 'api_key_id',
      ids: 'SELECT id FROM api_keys WHERE organization_id = $1 AND user_id = $2::uuid',
    },
  };
}

export function sightOf({ seesOnlyOf }: Pick<Principal, 'seesOnlyOf'>): readonly QueryCondition[] {
  return seesOnlyOf === undefined ? [] : [ownTraffic(seesOnlyOf)];
}

export const withSight = (caller: Principal): Sight => ({ ...reachOf(caller), own: sightOf(caller) });
