import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { Queryable } from '../../database/queryable.js';
import type { ClickHouse } from '../analytics/clickhouse/clickhouse.js';
import { NIL_ID } from '../rollups/dimensions.js';

/** The cursor in `log_sinks` up to which bodies are copied. */
export const CLICKHOUSE_BODIES = 'clickhouse-bodies';

/** The batch of requests whose bodies are copied, and the range of their arrival times. */
export interface BodyBatch {
  readonly id: string;
  readonly first: Date;
  readonly last: Date;
}

/** A request whose bodies are read; `at` is its arrival time with its microseconds. */
export interface BodyOwner {
  readonly id: string;
  readonly at: string;
  readonly organisation_id: string;
}

/** The headers and the body of one direction. */
export interface CopiedBody {
  readonly request_id: string;
  readonly direction: 'request' | 'response';
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: Buffer | null;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
  readonly stored_encoding: string | null;
  readonly original_bytes: string;
  readonly truncated: boolean;
}

export interface CopiedPreview {
  readonly request_id: string;
  readonly direction: 'request' | 'response';
  readonly preview: string;
}

type StoredBodyRow = Readonly<Record<string, unknown>> & { readonly body: Buffer | null };

const OF_BATCH = `
  FROM request_logs AS logs
  JOIN request_bodies AS bodies ON bodies.request_id = logs.id AND bodies.created_at = logs.created_at
  WHERE logs.batch_id = $1 AND logs.created_at BETWEEN $2 AND $3 AND bodies.created_at BETWEEN $2 AND $3`;

const ROWS_OF_BATCH = `
  SELECT bodies.organisation_id, coalesce(logs.workspace_id, '${NIL_ID}'::uuid) AS workspace_id,
    to_char(bodies.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS created_at, bodies.request_id,
    bodies.direction, logs.batch_id, bodies.headers::text AS headers, bodies.body, bodies.content_type,
    bodies.content_encoding, bodies.stored_encoding, bodies.original_bytes, bodies.truncated, bodies.preview
  ${OF_BATCH} ORDER BY bodies.created_at, bodies.request_id, bodies.direction`;

const COPIED = `
  SELECT batch_id, uniqExact(request_id, direction) AS bodies FROM request_bodies
  WHERE batch_id IN {ids:Array(UUID)} AND created_at BETWEEN
    fromUnixTimestamp64Milli({first:Int64}, 'UTC') AND fromUnixTimestamp64Milli({last:Int64}, 'UTC')
  GROUP BY batch_id`;

const READ = `
  SELECT request_id, direction, headers, body, content_type, content_encoding, stored_encoding, original_bytes, truncated
  FROM request_bodies`;

const OF_REQUESTS = `
  WHERE organisation_id = {organization:UUID} AND created_at IN {moments:Array(DateTime64(6, 'UTC'))}
    AND request_id IN {ids:Array(UUID)}`;

/** A repeated copy may have left a row twice. */
const ONCE = 'ORDER BY request_id, direction LIMIT 1 BY request_id, direction';

/** The copies of bodies in ClickHouse. */
export class ClickHouseBodies {
  constructor(private readonly clickhouse: ClickHouse) {}

  /**
   * Copies the bodies that PostgreSQL has of a batch, unless ClickHouse has them all. Rejects unless ClickHouse then returns as many as it
   * was given: what it has confirmed is what it has.
   */
  async copy(database: Queryable, batch: BodyBatch): Promise<void> {
    const rows = await database.query<StoredBodyRow>(ROWS_OF_BATCH, [batch.id, batch.first, batch.last]);
    if ((await this.copied(batch)) >= rows.length) return;
    const encoded = rows.map((row) => ({ ...row, body: row.body?.toString('base64') ?? null }));
    // A new token each time, because rows that ClickHouse has lost must not count as a repetition.
    await this.clickhouse.insert('request_bodies', encoded, uuidV7(Date.now()));
    const copied = await this.copied(batch);
    if (copied < rows.length)
      throw new Error(
        `ClickHouse confirmed ${rows.length} bodies of the batch ${batch.id} and returns ${copied} of them.`,
      );
  }

  private async copied({ id, first, last }: BodyBatch): Promise<number> {
    const [row] = await this.clickhouse.read<{ bodies: number }>(COPIED, {
      ids: [id],
      first: first.getTime(),
      last: last.getTime(),
    });
    return row?.bodies ?? 0;
  }

  /** Those of requests of one organization. */
  async of(requests: readonly BodyOwner[]): Promise<readonly CopiedBody[]> {
    const rows = await this.clickhouse.read<
      Omit<CopiedBody, 'headers' | 'body' | 'original_bytes'> & {
        readonly headers: string | null;
        readonly body: string | null;
        readonly original_bytes: number;
      }
    >(`${READ} ${OF_REQUESTS} ${ONCE}`, parametersOf(requests));
    return rows.map((row) => ({
      ...row,
      headers: row.headers === null ? null : (JSON.parse(row.headers) as CopiedBody['headers']),
      body: row.body === null ? null : Buffer.from(row.body, 'base64'),
      original_bytes: String(row.original_bytes),
    }));
  }

  previewsOf(requests: readonly BodyOwner[]): Promise<readonly CopiedPreview[]> {
    return this.clickhouse.read(
      `SELECT request_id, direction, preview FROM request_bodies ${OF_REQUESTS} AND preview IS NOT NULL ${ONCE}`,
      parametersOf(requests),
    );
  }
}

const parametersOf = (requests: readonly BodyOwner[]): Readonly<Record<string, unknown>> => ({
  organization: requests[0]?.organisation_id,
  moments: requests.map(({ at }) => at.replace('T', ' ').replace('Z', '')),
  ids: requests.map(({ id }) => id),
});
