import { CAUSE } from './verify-money.js';

/** Anything that runs a statement and returns its rows. */
interface CostDatabase {
  query(sql: string): Promise<unknown>;
}

/** Attempts without a cost that their providers may charge for, with one cause. */
export interface UnknownCost {
  readonly cause: string;
  readonly attempts: number;
}

/** The request of an attempt. The method and the path, with its parameters cut off, are null when the request is no longer in the log. */
export interface LoggedRequest {
  readonly method: string | null;
  readonly path: string | null;
  readonly provider: string;
}

/** Providers bill neither refusals, nor attempts without a connection: those have no status, and are no estimates. */
const MAY_BE_BILLED =
  "(a.input_tokens IS NOT NULL OR a.estimated OR a.error_code = 'gateway_crashed' OR a.status < 400)";

const UNKNOWN = `
  SELECT CASE WHEN a.input_tokens IS NOT NULL THEN 'no price is known for the usage'
      WHEN a.estimated OR a.error_code = 'gateway_crashed' THEN ${CAUSE}
      ELSE 'the usage was not reported' END AS cause,
    a.input_tokens IS NOT NULL OR a.status = 101 OR (r.method = 'GET' AND r.endpoint = 'realtime') AS used,
    r.method, split_part(r.path, '?', 1) AS path, a.provider, count(*) AS attempts
  FROM request_attempts a LEFT JOIN request_logs r ON r.id = a.id AND r.created_at = a.created_at
  WHERE a.cost_nano_usd IS NULL AND ${MAY_BE_BILLED}
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1`;

/**
 * The attempts whose cost is unknown, by cause. The usage of a killed request is unknown without a limit in dollars or tokens. `isFree`:
 * whether the provider bills no such request at all, so that a missing cost is none.
 */
export async function unknownCosts(
  database: CostDatabase,
  isFree: (sent: LoggedRequest) => boolean,
): Promise<UnknownCost[]> {
  const rows = (await database.query(UNKNOWN)) as (LoggedRequest & {
    readonly cause: string;
    /** Its usage is known, or it was a session. */
    readonly used: boolean | null;
    readonly attempts: string;
  })[];
  const counts = new Map<string, number>();
  for (const row of rows)
    if (row.used || !isFree(row)) counts.set(row.cause, (counts.get(row.cause) ?? 0) + Number(row.attempts));
  return [...counts].map(([cause, attempts]) => ({ cause, attempts }));
}
