/** Anything that runs a statement and returns its rows. */
interface MoneyDatabase {
  query(sql: string): Promise<unknown>;
}

/** Two books that should agree on one subject, and their amounts. Nano-dollars or tokens. */
export interface BookComparison {
  /** Display text: "the counter 0199…". */
  readonly what: string;
  readonly expected: bigint;
  readonly found: bigint;
  /** Why they may differ; null when no reason is known. */
  readonly reason: string | null;
}

export interface Books {
  /** Each book against its source: what was compared, and the differences. */
  readonly name: string;
  readonly compared: number;
  readonly differences: readonly BookComparison[];
}

interface MoneyComparisonRow {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  readonly reason: string | null;
}

/** The amount of each counter, and the amount that attempts were charged to it. Sums are numeric, which has no largest number. */
const CHARGED = `
  SELECT counter.key, counter.created_at, counter.spent,
    coalesce(sum(CASE WHEN counter.measure = 'cost' THEN attempt.cost_nano_usd
      ELSE attempt.input_tokens::bigint + attempt.output_tokens END), 0) AS amount
  FROM limit_counters counter
  LEFT JOIN (
    SELECT charge.key, a.cost_nano_usd, a.input_tokens, a.output_tokens
    FROM request_attempts a CROSS JOIN LATERAL jsonb_array_elements_text(a.charged) AS charge (key)
    WHERE a.charged IS NOT NULL
  ) AS attempt ON attempt.key = counter.key
  WHERE counter.measure <> 'concurrency'
  GROUP BY counter.key`;

/** A budget whose spent amount partly does not come from a provider. Nano-dollars or tokens. */
export interface EstimatedPart {
  readonly counter: string;
  readonly measure: 'cost' | 'tokens';
  readonly spent: bigint;
  /** Part of the spent amount: attempts without a recorded end of the response. */
  readonly estimated: bigint;
  /** In addition: held by processes that were lost with their spool, which counts as spent. */
  readonly lost: bigint;
}

const ESTIMATED = `
  SELECT c.key AS counter, c.measure, c.spent, coalesce(attempt.amount, 0) AS estimated, coalesce(lease.amount, 0) AS lost
  FROM limit_counters c
  LEFT JOIN (
    SELECT charge.key, sum(CASE WHEN counter.measure = 'cost' THEN a.cost_nano_usd
      ELSE a.input_tokens::bigint + a.output_tokens END) AS amount
    FROM request_attempts a CROSS JOIN LATERAL jsonb_array_elements_text(a.charged) AS charge (key)
      JOIN limit_counters counter ON counter.key = charge.key
    WHERE a.estimated AND a.charged IS NOT NULL GROUP BY charge.key
  ) AS attempt ON attempt.key = c.key
  LEFT JOIN (
    SELECT counter, sum(amount) AS amount FROM limit_leases WHERE expires_at = 'infinity' GROUP BY counter
  ) AS lease ON lease.counter = c.key
  WHERE c.measure <> 'concurrency' AND coalesce(attempt.amount, 0) + coalesce(lease.amount, 0) > 0 ORDER BY c.key`;

/** How much of each budget is an estimate. This is not a difference: the books agree, and the provider's bill may be lower. */
export async function estimatedParts(database: MoneyDatabase): Promise<EstimatedPart[]> {
  const rows = (await database.query(ESTIMATED)) as (Record<
    'counter' | 'spent' | 'estimated' | 'lost',
    string
  > &
    Pick<EstimatedPart, 'measure'>)[];
  return rows.map(({ counter, measure, spent, estimated, lost }) => ({
    counter,
    measure,
    spent: BigInt(spent),
    estimated: BigInt(estimated),
    lost: BigInt(lost),
  }));
}

/** Estimated amounts of attempts with one cause, whether budgets count them or not. */
export interface EstimatedCause {
  readonly cause: string;
  readonly attempts: number;
  readonly nanoDollars: bigint;
}

/** The first that applies. `session`: some responses of a WebSocket session had no end on record. */
export const CAUSE = `CASE
    WHEN a.error_code = 'gateway_crashed' THEN 'the process died'
    WHEN a.error_code IN ('upstream_timeout', 'request_timeout') THEN 'the attempt timed out'
    WHEN a.status = 101 THEN 'a response of a session did not end'
    WHEN r.ending = 'client_aborted' THEN 'the client disconnected'
    WHEN a.error_code IS NOT NULL OR r.ending = 'upstream_truncated' THEN 'the response broke off'
    ELSE 'the gateway ended the attempt' END`;

const CAUSES = `
  SELECT ${CAUSE} AS cause, count(*) AS attempts, sum(a.cost_nano_usd) AS amount
  FROM request_attempts a LEFT JOIN request_logs r ON r.id = a.id AND r.created_at = a.created_at
  WHERE a.estimated AND a.cost_nano_usd IS NOT NULL GROUP BY 1 ORDER BY 1`;

/** The estimated amounts by their causes. `unknownCosts` has the attempts without an amount. */
export async function estimatedCauses(database: MoneyDatabase): Promise<EstimatedCause[]> {
  const rows = (await database.query(CAUSES)) as Record<'cause' | 'attempts' | 'amount', string>[];
  return rows.map(({ cause, attempts, amount }) => ({
    cause,
    attempts: Number(attempts),
    nanoDollars: BigInt(amount),
  }));
}

/** Retention may have removed records from before this time, in some workspaces and not in others. */
const CUT_BEFORE = "(SELECT before FROM rollup_seals WHERE grain = 'row')";

const LOST_RECORDS = `ledger.amount < ledger.spent AND ledger.created_at
  < greatest((SELECT min(created_at) FROM request_attempts) - interval '1 hour', ${CUT_BEFORE})`;

const COUNTERS = `
  SELECT 'counter ' || key AS what, amount AS expected, spent AS found,
    CASE WHEN ${LOST_RECORDS} THEN 'older records were removed by retention' END AS reason
  FROM (${CHARGED}) AS ledger`;

/** Logs of requests made elsewhere carry their own cost and have no attempts. */
const REQUESTS = `
  SELECT 'requests of ' || day AS what, sum(attempts) AS expected, sum(request) AS found, NULL AS reason
  FROM (
    SELECT to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, coalesce(r.cost_nano_usd, 0) AS request,
      CASE WHEN r.cost_nano_usd IS NULL THEN 0 ELSE coalesce(a.cost, 0) END AS attempts
    FROM request_logs r LEFT JOIN (
      SELECT id, created_at, sum(cost_nano_usd) AS cost FROM request_attempts GROUP BY id, created_at
    ) AS a ON a.id = r.id AND a.created_at = r.created_at
    WHERE r.source IS NULL
  ) AS both_books GROUP BY day`;

const ROLLUPS = `
  SELECT 'rollup of ' || coalesce(logged.day, counted.day) AS what, coalesce(logged.cost, 0) AS expected,
    coalesce(counted.cost, 0) AS found,
    CASE WHEN logged.cost IS NULL
      OR (logged.cost < counted.cost AND logged.day < to_char(${CUT_BEFORE} AT TIME ZONE 'UTC', 'YYYY-MM-DD')) THEN 'its records were removed by retention' END AS reason
  FROM (
    SELECT to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(r.cost_nano_usd) AS cost
    FROM request_logs r JOIN log_batches b ON b.id = r.batch_id AND b.aggregated_at IS NOT NULL GROUP BY 1
  ) AS logged FULL JOIN (
    SELECT to_char(bucket AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(cost_nano_usd) AS cost
    FROM usage_minute GROUP BY 1
  ) AS counted ON counted.day = logged.day`;

const BOOKS = [
  ['Budgets against the charges of attempts', COUNTERS],
  ['Requests against their attempts', REQUESTS],
  ['Rollups against requests', ROLLUPS],
] as const;

/** Books that ClickHouse keeps when it does the counting. No snapshot spans both databases. */
const IN_CLICKHOUSE: ReadonlySet<string> = new Set([ROLLUPS]);

/**
 * Compares the books about money: attempts are the ledger, counters and requests derive from them, rollups from requests. Run it in one
 * snapshot, because all of them change while requests run.
 */
export async function verifyMoney(
  database: MoneyDatabase,
  countedIn: 'PostgreSQL' | 'ClickHouse' = 'PostgreSQL',
): Promise<Books[]> {
  const books: Books[] = [];
  for (const [name, sql] of BOOKS) {
    if (countedIn === 'ClickHouse' && IN_CLICKHOUSE.has(sql)) continue;
    const rows = (await database.query(sql)) as MoneyComparisonRow[];
    const compared = rows.map(({ what, expected, found, reason }) => ({
      what,
      expected: BigInt(expected),
      found: BigInt(found),
      reason,
    }));
    const differences = compared.filter(({ expected, found }) => expected !== found);
    books.push({ name, compared: compared.length, differences });
  }
  return books;
}

/** Once retention has removed the charges, the counter is the only record. */
const WRONG = `FROM (${CHARGED}) AS ledger WHERE ledger.amount <> ledger.spent AND NOT coalesce(${LOST_RECORDS}, false)`;

/** Rebuilds every counter from the charges of attempts. Returns how many were wrong. Nothing else may write meanwhile. */
export async function rebuildCounters(database: MoneyDatabase): Promise<number> {
  await database.query('LOCK TABLE limit_counters IN EXCLUSIVE MODE');
  const wrong = (await database.query(`SELECT 1 ${WRONG}`)) as unknown[];
  await database.query(`
    UPDATE limit_counters counter SET spent = ledger.amount, forgiven = least(counter.forgiven, ledger.amount)
    ${WRONG} AND ledger.key = counter.key`);
  return wrong.length;
}
