import type { EntityManager } from 'typeorm';

/** A time range, both ends included, as ISO 8601; null means unbounded. */
export interface AuditTime {
  readonly start: string | null;
  readonly end: string | null;
}

/** Position of a page among the records of a time range, newest first. */
export interface PlaceInTime {
  readonly total: number;
  /** No record of the range has this number or a lower one. */
  readonly above: number;
  /** Null when the list ends before the page. */
  readonly page: {
    /** The highest number of the block in which the page begins. */
    readonly upTo: number;
    /** Number of records of the range, from that number down, before the page. */
    readonly skip: number;
  } | null;
}

/**
 * Finds the page after the newest `skip` records of a time range, and the total. Each thousand numbers form a block that stores its oldest
 * and newest time, because the order of commits is not quite that of times. Blocks entirely inside or outside the range are not read; in
 * the others, and in blocks without stored times, records are counted one by one.
 */
export async function placeInTime(
  manager: EntityManager,
  organizationId: string,
  { start, end }: AuditTime,
  skip: number,
): Promise<PlaceInTime> {
  const parameters = [organizationId, start ?? '-infinity', end ?? 'infinity', skip];
  const [place] = await manager.query<[PlaceInTime]>(PLACE, parameters);
  return place;
}

/** Stores the times of the block that ends with number `$2`, a multiple of a thousand. */
const REMEMBER = `
  INSERT INTO audit_blocks (organization_id, number, oldest, newest)
  SELECT $1, $2::bigint / 1000 - 1, min(at), max(at) FROM audit_records
  WHERE organization_id = $1 AND seq > $2::bigint - 1000 AND seq <= $2::bigint
  HAVING count(*) = 1000 ON CONFLICT DO NOTHING`;

/** Call it after each record that is added, while the head of the chain is locked. */
export async function rememberBlock(
  manager: EntityManager,
  organizationId: string,
  seq: string,
): Promise<void> {
  if (seq.endsWith('000')) await manager.query(REMEMBER, [organizationId, seq]);
}

/** The numbers of blocks whose stored times do not match their records: `$1` is the organization. */
export const WRONG_BLOCKS = `
  SELECT block.number FROM audit_blocks block
    LEFT JOIN LATERAL (
      SELECT min(at) AS oldest, max(at) AS newest FROM audit_records
      WHERE organization_id = $1 AND seq > block.number * 1000 AND seq <= block.number * 1000 + 1000
    ) found ON true
  WHERE organization_id = $1 AND (block.oldest, block.newest) IS DISTINCT FROM (found.oldest, found.newest)
  ORDER BY block.number LIMIT 1`;

const WITHIN = 'at >= $2::timestamptz AND at <= $3::timestamptz';

/** Materialized, because a block's values would otherwise be recomputed at every reference. */
const PLACE = `
  WITH blocks AS MATERIALIZED (
    SELECT each.number, (CASE
      WHEN oldest >= $2::timestamptz AND newest <= $3::timestamptz THEN 1000
      WHEN oldest > $3::timestamptz OR newest < $2::timestamptz THEN 0
      ELSE (
        SELECT count(*) FROM audit_records
        WHERE organization_id = $1 AND seq > each.number * 1000 AND seq <= each.number * 1000 + 1000 AND ${WITHIN}
      ) END)::integer AS records
    FROM audit_heads head, generate_series(0, (head.seq - 1) / 1000) each (number)
      LEFT JOIN audit_blocks block ON block.organization_id = $1 AND block.number = each.number
    WHERE head.organization_id = $1
  )
  SELECT coalesce(sum(records), 0)::integer AS total,
    coalesce(min(number) FILTER (WHERE records > 0), 0)::integer * 1000 AS above,
    (
      SELECT json_build_object('upTo', number * 1000 + 1000, 'skip', $4 - (up_to - records)) FROM (
        SELECT number, records, sum(records) OVER (ORDER BY number DESC ROWS UNBOUNDED PRECEDING) AS up_to FROM blocks
      ) placed WHERE up_to > $4 ORDER BY number DESC LIMIT 1
    ) AS page
  FROM blocks`;
