import type { Queryable } from '../../database/queryable.js';

/** Addresses may identify people, so they are not kept for longer than an investigation needs. */
const KEPT_DAYS = 30;

const FORGET = `
  WITH gone AS (
    DELETE FROM refused_credentials WHERE last_at < now() - make_interval(days => $1) RETURNING 1
  ) SELECT count(*)::int AS count FROM gone`;

/** Removes rows whose last request is too long ago. Resolves with the number removed. */
export async function forgetRefusedCredentials(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(FORGET, [KEPT_DAYS]);
  return row?.count ?? 0;
}
