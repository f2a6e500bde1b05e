import type { RowsOf } from '../../request-log/retention/kept-times.js';
import type { UnderTimes } from './under-times.js';

type LetterOwner = RowsOf | { readonly organization_id: null; readonly workspace_id: null };

const OWNERS = `
  SELECT DISTINCT organisation_id AS organization_id,
    CASE WHEN organisation_id IS NOT NULL THEN workspace_id END AS workspace_id
  FROM request_log_dead_letters ORDER BY 1, 2`;

const FORGET = `
  WITH gone AS (
    DELETE FROM request_log_dead_letters WHERE created_at < $3
      AND organisation_id IS NOT DISTINCT FROM $1::uuid AND ($1::uuid IS NULL OR workspace_id IS NOT DISTINCT FROM $2::uuid)
    RETURNING 1
  ) SELECT count(*)::int AS count FROM gone`;

const ANY_HOLD = 'SELECT 1 FROM legal_holds WHERE released_at IS NULL LIMIT 1';

/**
 * Removes records that the tables refused when their bodies would no longer be kept, because they contain bodies. Records without an owner
 * follow the installation's retention, and every legal hold, which might concern them. Resolves with the number removed.
 */
export function forgetDeadLetters(under: UnderTimes): Promise<number> {
  return under(async (times, transaction) => {
    const isAnyHeld = (await transaction.query(ANY_HOLD)).length > 0;
    let removed = 0;
    for (const owner of await transaction.query<LetterOwner>(OWNERS)) {
      const sinceWithoutOwner = isAnyHeld ? -Infinity : times.usually('bodies');
      const since = owner.organization_id === null ? sinceWithoutOwner : times.since('bodies', owner);
      if (since === -Infinity) continue;
      const [row] = await transaction.query<{ count: number }>(FORGET, [
        owner.organization_id,
        owner.workspace_id,
        new Date(since),
      ]);
      removed += row?.count ?? 0;
    }
    return removed;
  });
}
