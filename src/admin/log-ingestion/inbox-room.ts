import { Counter } from 'prom-client';
import type { EntityManager } from 'typeorm';
import type { IngestedLog } from './ingested-log.entity.js';
import { AppError } from '../../common/errors/app-error.js';

/** Maximum number of waiting logs of one organization: small enough to be counted with every request. */
const MOST_ROWS = 20_000;

const refused = new Counter({
  name: 'gatehouse_log_inbox_refused_total',
  help: 'Requests with logs of calls made elsewhere that were refused, because too many wait for the background process.',
});

/** The sizes of stored bytes are known without reading them. */
const WAITING = `
  SELECT count(*)::int AS rows, coalesce(sum(bytes), 0)::float8 AS bytes FROM (
    SELECT octet_length(closed) + octet_length(request_body) + octet_length(response_body) AS bytes
    FROM ingested_logs WHERE organization_id = $1 LIMIT ${MOST_ROWS}
  ) AS waiting`;

/**
 * Refuses with `log_inbox_full` logs that exceed the limits together with those waiting in the same organization: while the background
 * process is unavailable, an unbounded inbox would fill the disk of the database. Concurrent requests may exceed it by one request each.
 */
export async function checkRoom(
  manager: EntityManager,
  rows: readonly IngestedLog[],
  limitBytes: number,
): Promise<void> {
  const [waiting] = await manager.query<{ rows: number; bytes: number }[]>(WAITING, [
    rows[0]?.organizationId,
  ]);
  if (!waiting) return;
  const coming = rows.reduce((sum, row) => sum + bytesOf(row), 0);
  if (waiting.rows + rows.length <= MOST_ROWS && waiting.bytes + coming <= limitBytes) return;
  refused.inc();
  throw new AppError('log_inbox_full', { detail: `${waiting.rows} logs, ${waiting.bytes} bytes` });
}

const bytesOf = ({ closed, requestBody, responseBody }: IngestedLog): number =>
  closed.length + requestBody.length + responseBody.length;
