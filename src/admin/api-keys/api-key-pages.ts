import type { EntityManager } from 'typeorm';
import type { Reach } from '../../auth/tenant.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';

/** Where a page of a list begins, newest first. */
export interface PlaceInList {
  /** How many keys the whole list has. */
  readonly total: number;
  /** Null where the list is over before the page. */
  readonly page: {
    /** Ids from this one on are in newer blocks than the page; null in the newest block. */
    readonly below: string | null;
    /** How many keys of the block come before the page. */
    readonly skip: number;
  } | null;
}

/** A block keeps a count of each kind in a column of its own. */
const COUNTS: Readonly<Record<ApiKeyType, string>> = {
  'organisation-service': 'organisation_service',
  'workspace-service': 'workspace_service',
  'workspace-user': 'workspace_user',
};

/**
 * Finds the page that follows the first `skip` keys of an organization or a workspace, by adding up the blocks of its list.
 * A block has about a thousand keys, whatever the list has.
 */
export async function placeOfPage(
  manager: EntityManager,
  { organizationId, workspaceId }: Reach,
  kinds: readonly ApiKeyType[],
  skip: number,
): Promise<PlaceInList> {
  const parameters = [organizationId, workspaceId ?? organizationId, skip];
  const [place] = await manager.query<[PlaceInList]>(placeSql(kinds), parameters);
  return place;
}

const placeSql = (kinds: readonly ApiKeyType[]): string => `
  SELECT coalesce(max(up_to), 0)::integer AS total,
    json_agg(json_build_object('below', below, 'skip', $3 - (up_to - keys)))
      FILTER (WHERE $3 >= up_to - keys AND $3 < up_to) -> 0 AS page
  FROM (
    SELECT keys, sum(keys) OVER newest_first AS up_to, lag(first_id) OVER newest_first AS below
    FROM (
      SELECT first_id, ${kinds.map((kind) => COUNTS[kind]).join(' + ')} AS keys
      FROM api_key_blocks WHERE organization_id = $1 AND list_id = $2
    ) blocks
    WINDOW newest_first AS (ORDER BY first_id DESC)
  ) placed`;
