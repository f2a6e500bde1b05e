import type { QueryCondition } from '../../request-log/reading/log-filters.js';
import type { Principal } from '../principal.js';
import { type Reach, reachOf } from '../tenant.js';

/** The part of the request log and its rollups that a caller may see. */
export interface Visibility extends Reach {
  /** Added to the caller's own filter. Empty for a caller without restrictions. */
  readonly own: readonly QueryCondition[];
}

/**
 * A caller limited to the traffic of their own keys sees requests with keys that belong to them: service keys and signed tokens belong to
 * no user. The rollups count keys separately, so analytics need no request rows for it.
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

export function visibilityOf({ seesOnlyOf }: Pick<Principal, 'seesOnlyOf'>): readonly QueryCondition[] {
  return seesOnlyOf === undefined ? [] : [ownTraffic(seesOnlyOf)];
}

export const withVisibility = (caller: Principal): Visibility => ({
  ...reachOf(caller),
  own: visibilityOf(caller),
});
