import type { Pool, PoolClient } from 'pg';
import type { NewLogRow } from '../../request-log/store/log-row.js';
import { storeTaken } from '../../request-log/store/store-batch.js';
import { readClosed } from '../../request-log/spool/frame-values.js';
import { NIL_ID } from '../../request-log/rollups/dimensions.js';
import { readRedactors } from '../../request-log/redaction/read-redactors.js';
import { rowsOfClosed } from './log-rows.js';
import type { BatchQueue, UsageCounter } from './ports.js';

const MOST = 200;

interface Inbox {
  readonly closed: Buffer;
  readonly request_body: Buffer;
  readonly response_body: Buffer;
}

/** Two processes take different rows: each skips the rows that the other has locked. */
const TAKE = `
  DELETE FROM ingested_logs WHERE id IN (
    SELECT id FROM ingested_logs ORDER BY created_at, id LIMIT ${MOST} FOR UPDATE SKIP LOCKED
  ) RETURNING closed, request_body, response_body`;

/** Imported logs carry their own numbers, and nothing of theirs is counted again or charged to a budget. */
const COUNTS_NOTHING: UsageCounter = { countTokens: () => 0, costOf: () => null };

/**
 * Moves logs of requests made elsewhere from their inbox to the request log, each once: removed and stored in one transaction. Returns true
 * when there may be more.
 */
export async function storeIngested(pool: Pool, batchQueue: BatchQueue): Promise<boolean> {
  let taken = 0;
  const take = async (client: PoolClient): Promise<readonly NewLogRow[] | null> => {
    const { rows } = await client.query<Inbox>(TAKE);
    taken = rows.length;
    if (taken === 0) return null;
    const exchanges = rows.map(exchangeOf);
    const redactorOf = await readRedactors(
      async (sql, parameters) => (await client.query<object>(sql, parameters)).rows,
      exchanges.map(({ closed }) => closed.record.organisation_id),
    );
    return rowsOfClosed(exchanges, { counter: COUNTS_NOTHING, redactorOf, isBehind: taken === MOST });
  };
  const stored = await storeTaken(pool, { writerId: NIL_ID, take });
  // The sweep finds a batch whose announcement was lost.
  if (stored?.batchId) await batchQueue.enqueue(stored.batchId).catch(() => undefined);
  return taken === MOST;
}

const exchangeOf = ({ closed, request_body, response_body }: Inbox) => ({
  closed: readClosed(closed),
  requestBody: request_body,
  responseBody: response_body,
});
