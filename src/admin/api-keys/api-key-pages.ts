import type { EntityManager } from 'typeorm';
import type { Reach } from '../../auth/tenant.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';

/** Position of a page in a list, newest first. */
export interface PlaceInList {
  /** Number of keys in the whole list. */
  readonly total: number;
  /** Null when the list ends before the page. */
  readonly page: {
    /** Ids from this one on are in newer blocks than the page; null in the newest block. */
    readonly below: string | null;
    /** How many keys of the block come before the page. */
    readonly skip: number;
  } | null;
}

/** Blocks newer than the newest block with keys have nothing to show. */
const FIRST = { below: null, skip: 0 } as const;

/** A block counts each kind in a separate column. */
const COUNTS: Readonly<Record<ApiKeyType, string>> = {
  'organisation-service': 'organisation_service',
  'workspace-service': 'workspace_service',
  'workspace-user': 'workspace_user',
};

/**
 * Finds the page after the first `skip` keys of an organization or workspace by adding up the blocks of its list. A block has about a
 * thousand keys, however long the list is.
 */
export async function placeOfPage(
  manager: EntityManager,
  { organizationId, workspaceId }: Reach,
  kinds: readonly ApiKeyType[],
  skip: number,
): Promise<PlaceInList> {
  const list = [organizationId, workspaceId ?? organizationId];
  const sql = placeSql(kinds, skip);
  const [place] = await manager.query<[PlaceInList]>(sql, skip === 0 ? list : [...list, skip]);
  return skip === 0 ? { total: place.total, page: place.total > 0 ? FIRST : null } : place;
}

/** For a page beyond the first, adds up blocks as far as the page; for the total, all of them, unordered. */
function placeSql(kinds: readonly ApiKeyType[], skip: number): string {
  const keys = kinds.map((kind) => COUNTS[kind]).join(' + ');
  const blocks = 'FROM api_key_blocks WHERE organization_id = $1 AND list_id = $2';
  const total = `SELECT coalesce(sum(${keys}), 0)::integer AS total ${blocks}`;
  if (skip === 0) return total;
  return `
    SELECT (${total}) AS total, (
      SELECT json_build_object('below', below, 'skip', $3 - (up_to - keys)) FROM (
        SELECT first_id, keys, sum(keys) OVER newest_first AS up_to, lag(first_id) OVER newest_first AS below
        FROM (SELECT first_id, ${keys} AS keys ${blocks}) blocks
        WINDOW newest_first AS (ORDER BY first_id DESC ROWS UNBOUNDED PRECEDING)
      ) placed WHERE up_to > $3 ORDER BY first_id DESC LIMIT 1
    ) AS page`;
}
