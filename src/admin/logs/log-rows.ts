import type { AppliedPrice } from '../../common/contracts/price.js';
import { Injectable } from '@nestjs/common';
import type { Sight } from '../../auth/sight.js';
import type { Reach } from '../../auth/tenant.js';
import { LogDatabase } from '../../common/database/log-reading/log-database.js';
import type { LogRow } from '../../common/database/log-reading/log-row.js';
import { filtered, Where } from '../../common/database/log-reading/where.js';
import type { LogPosition } from './log-cursor.js';
import type { LogQuery } from './log-query.js';

/** What stands in the table itself, and the exact time of arrival. */
export type StoredColumn = Exclude<keyof LogRow, 'workspace_slug'>;

/** The next rows of the log, as a reader of all of them asks for them. */
export interface LogStep<Column extends StoredColumn> {
  /** What is read of each row: half of the time of a long read goes into columns. */
  readonly columns: readonly Column[];
  readonly conditions: LogQuery['conditions'];
  readonly after: LogPosition | null;
  readonly until: Date;
  /** Rows to look at. */
  readonly size: number;
}

export interface LogStepRows<Column extends StoredColumn> {
  readonly rows: readonly Pick<LogRow, Column>[];
  /** The last row that was looked at; null when there was none. */
  readonly end: LogPosition | null;
  readonly isLast: boolean;
}

/** A row of `request_attempts`. */
export interface AttemptRow {
  readonly attempt: number;
  readonly option_path: string | null;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  readonly origin: string;
  readonly started_at: Date;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_nano_usd: string | null;
  readonly price: AppliedPrice | null;
}

/** A row of `request_bodies`. */
export interface BodyRow {
  readonly direction: 'request' | 'response';
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: Buffer | null;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
  readonly stored_encoding: string | null;
  readonly original_bytes: string;
  readonly truncated: boolean;
  /** Where the body lies when it has left the database: so many bytes of an object in the bucket. */
  readonly object_key?: string | null;
  readonly object_offset?: string | null;
  readonly object_length?: number | null;
  /** It lies there, and cannot be had now. */
  readonly is_out_of_reach?: boolean;
}

const AT = `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at`;
const POSITION = `${AT}, id`;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const BEFORE_ALL: LogPosition = { at: '-infinity', id: FIRST_ID };

/** The position before all rows of a moment. */
export const positionBefore = (moment: Date): LogPosition => ({ at: moment.toISOString(), id: FIRST_ID });

const LOG_COLUMNS = `
  id, created_at, ${AT}, organisation_id,
  workspace_id, (SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id) AS workspace_slug,
  api_key_id, user_id, virtual_key_id, virtual_key, config_id, config_version_id, option_path, decisions, trace_id, span_id, parent_span_id, span_name, method, path, endpoint,
  provider, model, response_model, streamed, ending, status, error_code, error_source, duration_ms, first_token_ms,
  overhead_us, request_bytes, response_bytes, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
  reasoning_tokens, audio_input_tokens, audio_output_tokens, usage_source, cost_nano_usd, attempt_count,
  prompt_slug, cache_status, cache_score, saved_nano_usd, retry_count, fallback_count, metadata, hook_results, source`;

const ATTEMPTS = `
  SELECT attempt, option_path, provider, virtual_key_id, origin, started_at, first_byte_ms, duration_ms, status, error_code,
    input_tokens, output_tokens, cost_nano_usd, price
  FROM request_attempts WHERE id = $1 AND created_at = $2::timestamptz AND organisation_id = $3 ORDER BY attempt`;

const BODY_COLUMNS = `
  request_id, direction, headers, body, content_type, content_encoding, stored_encoding, original_bytes, truncated,
  object_key, object_offset, object_length`;

const BODIES = `
  SELECT ${BODY_COLUMNS}
  FROM request_bodies WHERE request_id = $1 AND created_at = $2::timestamptz AND organisation_id = $3`;

const BODIES_OF_ALL = `
  SELECT ${BODY_COLUMNS}
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3`;

const PREVIEWS = `
  SELECT request_id, direction, preview
  FROM unnest($1::uuid[], $2::timestamptz[]) AS wanted (id, at)
  JOIN request_bodies ON request_id = wanted.id AND created_at = wanted.at AND organisation_id = $3
  WHERE preview IS NOT NULL`;

export type PreviewRow = Pick<BodyRow, 'direction'> & {
  readonly request_id: string;
  readonly preview: string;
};

/** A row of `feedback`. */
export interface FeedbackRow {
  readonly id: string;
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: Date;
}

const MOST_FEEDBACK = 100;

const FEEDBACK = `
  SELECT id, value, weight, metadata, created_at FROM feedback
  WHERE organization_id = $1 AND workspace_id = $2 AND trace_id = $3 ORDER BY created_at, id LIMIT ${MOST_FEEDBACK}`;

/** The queries of the request log. Values travel as parameters and never as SQL. */
@Injectable()
export class LogRows {
  constructor(private readonly database: LogDatabase) {}

  /** Newest first, and one row more than a page holds, if there is one. */
  list(reach: Reach, { conditions, after, size }: LogQuery): Promise<readonly LogRow[]> {
    const query = filtered(reach, conditions);
    if (after) {
      const at = query.bind(after.at);
      query.and((id) => `(created_at, id) < (${at}::timestamptz, ${id}::uuid)`, after.id);
    }
    const limit = query.bind(size + 1);
    return this.database.read(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql} ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
      query.parameters,
    );
  }

  /**
   * Oldest first, of the next so many rows after a position those that fit; and where the next step begins, or null when
   * that was all. So a step reads a bounded number of rows however few fit, where a search for the next page might read all.
   */
  async step<Column extends StoredColumn>(
    reach: Reach,
    wanted: LogStep<Column>,
  ): Promise<LogStepRows<Column>> {
    const { after, until, size } = wanted;
    const edge = new Where(reach);
    edge.and((moment) => `created_at <= ${moment}::timestamptz`, until);
    if (after) {
      const at = edge.bind(after.at);
      // The first half lets the database leave partitions out, which it does not for the second.
      edge.and(
        (id) => `created_at >= ${at}::timestamptz AND (created_at, id) > (${at}::timestamptz, ${id}::uuid)`,
        after.id,
      );
    }
    const rows = await this.database.read<LogPosition & { readonly is_last: boolean }>(
      `SELECT ${POSITION}, count(*) OVER () < ${edge.bind(size)} AS is_last FROM (
         SELECT created_at, id FROM request_logs WHERE ${edge.sql} ORDER BY created_at, id LIMIT ${edge.bind(size)}
       ) AS next ORDER BY created_at DESC, id DESC LIMIT 1`,
      edge.parameters,
    );
    const [end] = rows;
    if (!end) return { rows: [], end: null, isLast: true };
    return { rows: await this.between(reach, wanted, end), end, isLast: end.is_last };
  }

  private between<Column extends StoredColumn>(
    reach: Reach,
    { columns, conditions, after }: LogStep<Column>,
    end: LogPosition,
  ): Promise<readonly Pick<LogRow, Column>[]> {
    const query = filtered(reach, conditions);
    for (const [operator, { at, id }] of [['>', after ?? BEFORE_ALL] as const, ['<', end] as const]) {
      const moment = query.bind(at);
      query.and(
        (each) =>
          `created_at ${operator}= ${moment}::timestamptz AND (created_at, id) ${operator === '<' ? '<=' : '>'} (${moment}::timestamptz, ${each}::uuid)`,
        id,
      );
    }
    const selected = columns.map((name) => (name === 'at' ? AT : name)).join(', ');
    return this.database.read(
      `SELECT ${selected} FROM request_logs WHERE ${query.sql} ORDER BY created_at, id`,
      query.parameters,
    );
  }

  /** The requests of a batch that fit, so many at most, and how many more there are. */
  async ofBatch(
    reach: Reach,
    conditions: LogQuery['conditions'],
    batch: { readonly id: string; readonly first: Date; readonly last: Date },
    most: number,
  ): Promise<[rows: readonly LogRow[], more: number]> {
    const query = filtered(reach, conditions);
    query.and((id) => `batch_id = ${id}::uuid`, batch.id);
    query.and((first) => `created_at >= ${first}::timestamptz`, batch.first);
    query.and((last) => `created_at <= ${last}::timestamptz`, batch.last);
    const rows = await this.database.read<LogRow & { readonly fitting: number }>(
      `SELECT ${LOG_COLUMNS}, (count(*) OVER ())::int AS fitting FROM request_logs WHERE ${query.sql}
       ORDER BY created_at, id LIMIT ${query.bind(most)}`,
      query.parameters,
    );
    return [rows, (rows[0]?.fitting ?? 0) - rows.length];
  }

  /** How many rows fit, but never more than `most`: nobody pays for counting millions. */
  async count(reach: Reach, { conditions }: Pick<LogQuery, 'conditions'>, most: number): Promise<number> {
    const query = filtered(reach, conditions);
    const limit = query.bind(most);
    const [row] = await this.database.read<{ count: number }>(
      `SELECT count(*)::int AS count FROM (SELECT 1 FROM request_logs WHERE ${query.sql} LIMIT ${limit}) AS counted`,
      query.parameters,
    );
    return row?.count ?? 0;
  }

  /** The requests of a trace, oldest first. */
  trace(reach: Sight, traceId: string, most: number): Promise<readonly LogRow[]> {
    const query = filtered(reach, reach.own);
    query.and((placeholder) => `trace_id = ${placeholder}`, traceId);
    const limit = query.bind(most);
    return this.database.read(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql} ORDER BY created_at, id LIMIT ${limit}`,
      query.parameters,
    );
  }

  feedbackOn({ organisation_id, workspace_id, trace_id }: LogRow): Promise<readonly FeedbackRow[]> {
    return this.database.read(FEEDBACK, [organisation_id, workspace_id, trace_id]);
  }

  async find(reach: Sight, id: string): Promise<LogRow | undefined> {
    const query = filtered(reach, reach.own);
    query.and((placeholder) => `id = ${placeholder}::uuid`, id);
    const [row] = await this.database.read<LogRow>(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql}`,
      query.parameters,
    );
    return row;
  }

  attemptsOf({ id, at, organisation_id }: LogRow): Promise<readonly AttemptRow[]> {
    return this.database.read(ATTEMPTS, [id, at, organisation_id]);
  }

  /** Headers and bodies of several requests of one organization. */
  bodiesOfAll(
    rows: readonly Pick<LogRow, 'id' | 'at' | 'organisation_id'>[],
  ): Promise<readonly (BodyRow & { readonly request_id: string })[]> {
    return this.database.read(BODIES_OF_ALL, [
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows[0]?.organisation_id,
    ]);
  }

  /** The beginnings of what requests of one organization and their answers say. */
  previewsOf(rows: readonly Pick<LogRow, 'id' | 'at' | 'organisation_id'>[]): Promise<readonly PreviewRow[]> {
    return this.database.read(PREVIEWS, [
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows[0]?.organisation_id,
    ]);
  }

  bodiesOf({
    id,
    at,
    organisation_id,
  }: LogRow): Promise<readonly (BodyRow & { readonly request_id: string })[]> {
    return this.database.read(BODIES, [id, at, organisation_id]);
  }
}
