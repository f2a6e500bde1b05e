import { Injectable } from '@nestjs/common';
import type { Visibility } from '../../../auth/permissions/visibility.js';
import type { Reach } from '../../../auth/tenant.js';
import { LogDatabase } from '../../../request-log/reading/log-database.js';
import { LogScope } from '../../../request-log/reading/log-scope.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import { filtered } from '../../../request-log/reading/where.js';
import type { LogPosition } from './log-cursor.js';
import type { LogQuery } from './log-query.js';
import {
  BEFORE_ALL,
  LogRows,
  type LogStep,
  type LogStepRows,
  STORED_COLUMNS,
  type StoredColumn,
} from './log-rows.js';

const AT = `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at`;
const POSITION = `${AT}, id`;
const selected = (columns: readonly StoredColumn[]): string =>
  columns.map((name) => (name === 'at' ? AT : name)).join(', ');
const SLUG =
  '(SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id) AS workspace_slug';
const LOG_COLUMNS = `${selected(STORED_COLUMNS)}, ${SLUG}`;

/** The queries of the request log in PostgreSQL. Values travel as parameters and never as SQL. */
@Injectable()
export class PostgresLogRows extends LogRows {
  constructor(
    private readonly database: LogDatabase,
    private readonly scope: LogScope,
  ) {
    super();
  }

  async list(reach: Reach, { conditions, after, size }: LogQuery): Promise<readonly LogRow[]> {
    const query = filtered(await this.scope.narrowed(reach, conditions), conditions);
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

  async step<Column extends StoredColumn>(reach: Reach, step: LogStep<Column>): Promise<LogStepRows<Column>> {
    const { after, until, size, among = [] } = step;
    const edge = filtered(reach, among);
    edge.and((moment) => `created_at <= ${moment}::timestamptz`, until);
    if (after) {
      const at = edge.bind(after.at);
      // The first half lets the database prune partitions, which the second half does not.
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
    return { rows: await this.between(reach, step, end), end, isLast: end.is_last };
  }

  private between<Column extends StoredColumn>(
    reach: Reach,
    { columns, conditions, after, among = [] }: LogStep<Column>,
    end: LogPosition,
  ): Promise<readonly Pick<LogRow, Column>[]> {
    const query = filtered(reach, [...conditions, ...among]);
    for (const [operator, { at, id }] of [['>', after ?? BEFORE_ALL] as const, ['<', end] as const]) {
      const moment = query.bind(at);
      query.and(
        (each) =>
          `created_at ${operator}= ${moment}::timestamptz AND (created_at, id) ${operator === '<' ? '<=' : '>'} (${moment}::timestamptz, ${each}::uuid)`,
        id,
      );
    }
    return this.database.read(
      `SELECT ${selected(columns)} FROM request_logs WHERE ${query.sql} ORDER BY created_at, id`,
      query.parameters,
    );
  }

  /** The matching requests of a batch, up to a number, and how many more there are. */
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

  async count(reach: Reach, { conditions }: Pick<LogQuery, 'conditions'>, most: number): Promise<number> {
    const query = filtered(await this.scope.narrowed(reach, conditions), conditions);
    const limit = query.bind(most);
    const [row] = await this.database.read<{ count: number }>(
      `SELECT count(*)::int AS count FROM (SELECT 1 FROM request_logs WHERE ${query.sql} LIMIT ${limit}) AS counted`,
      query.parameters,
    );
    return row?.count ?? 0;
  }

  trace(reach: Visibility, traceId: string, most: number): Promise<readonly LogRow[]> {
    const query = filtered(reach, reach.own);
    query.and((placeholder) => `trace_id = ${placeholder}`, traceId);
    const limit = query.bind(most);
    return this.database.read(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql} ORDER BY created_at, id LIMIT ${limit}`,
      query.parameters,
    );
  }

  async find(reach: Visibility, id: string): Promise<LogRow | undefined> {
    const query = filtered(reach, reach.own);
    query.and((placeholder) => `id = ${placeholder}::uuid`, id);
    const [row] = await this.database.read<LogRow>(
      `SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql}`,
      query.parameters,
    );
    return row;
  }

  /** Requests at known positions, in any order. */
  at(reach: Reach, places: readonly LogPosition[]): Promise<readonly LogRow[]> {
    const query = filtered(reach, []);
    const ids = query.bind(places.map(({ id }) => id));
    query.and(
      (times) =>
        `(created_at, id) IN (SELECT at, id FROM unnest(${times}::timestamptz[], ${ids}::uuid[]) AS wanted (at, id))`,
      places.map(({ at }) => at),
    );
    return this.database.read(`SELECT ${LOG_COLUMNS} FROM request_logs WHERE ${query.sql}`, query.parameters);
  }
}
