import type pg from 'pg';
import type { ProviderCall } from './remembering-provider.js';
import type { ClientView, Group } from './traffic.js';

/** A row of the log, read past the service. */
export interface LoggedRow {
  readonly id: string;
  readonly trace_id: string;
  readonly status: number;
  readonly ending: string;
  readonly cost: number | null;
}

export async function readRows(database: pg.Pool, groups: readonly Group[]): Promise<LoggedRow[]> {
  const { rows } = await database.query<LoggedRow>(
    `SELECT id, trace_id, status, ending, cost_nano_usd::float8 AS cost FROM request_logs WHERE api_key_id = ANY($1)`,
    [groups.map(({ id }) => id)],
  );
  return rows;
}

/** Three books about the same exchanges, of which none was made from another. */
export interface Books {
  readonly clients: readonly ClientView[];
  readonly provider: ReadonlyMap<string, ProviderCall>;
  readonly log: readonly LoggedRow[];
}

/** Every disagreement between the books, as a sentence. Empty: nothing was lost, nothing doubled, and costs are equal. */
export function disagreements({ clients, provider, log }: Books): string[] {
  const found: string[] = [];
  const rows = new Map<string, LoggedRow[]>();
  for (const row of log) rows.set(row.trace_id, [...(rows.get(row.trace_id) ?? []), row]);
  for (const [exchange, { times }] of provider) {
    if (times > 1) found.push(`${exchange}: the provider was asked ${times} times`);
    const count = rows.get(exchange)?.length ?? 0;
    if (count !== 1) found.push(`${exchange}: the provider was asked, and the log has ${count} rows`);
  }
  for (const view of clients) {
    const ofExchange = rows.get(view.exchange) ?? [];
    if (ofExchange.length > 1) found.push(`${view.exchange}: ${ofExchange.length} rows`);
    if (view.id !== '') found.push(...againstRow(view, ofExchange[0], provider.get(view.exchange)));
    rows.delete(view.exchange);
  }
  for (const exchange of rows.keys()) found.push(`${exchange}: a row that no client sent`);
  return found;
}

/** An answer has one row, with its id, its status and what the provider charges for it. */
function againstRow(view: ClientView, row: LoggedRow | undefined, call: ProviderCall | undefined): string[] {
  const { exchange, id, status, code } = view;
  // Before a caller is authenticated nothing is logged.
  if (!row) return code === 'auth_unavailable' ? [] : [`${exchange}: answered ${status}, and has no row`];
  const found: string[] = [];
  if (row.id !== id) found.push(`${exchange}: answered as ${id}, logged as ${row.id}`);
  if (row.status !== status) found.push(`${exchange}: answered ${status}, logged ${row.status}`);
  if (status === 200 && !call) found.push(`${exchange}: answered 200, and the provider was never asked`);
  if (status === 200 && call && row.cost !== call.cost)
    found.push(`${exchange}: costs ${call.cost}, logged ${row.cost}`);
  if (status !== 200 && call) found.push(`${exchange}: answered ${status}, and the provider was asked`);
  return found;
}
