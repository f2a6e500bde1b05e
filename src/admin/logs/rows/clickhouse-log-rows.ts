import type { Visibility } from '../../../auth/permissions/visibility.js';
import type { Reach } from '../../../auth/tenant.js';
import type { LogDatabase } from '../../../request-log/reading/log-database.js';
import type { QueryCondition } from '../../../request-log/reading/log-filters.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { Queryable } from '../../../database/queryable.js';
import type { ClickHouse } from '../../../request-log/analytics/clickhouse/clickhouse.js';
import {
  conditionsSql,
  ClickHouseQuery,
} from '../../../request-log/analytics/clickhouse/clickhouse-query.js';
import { rowsOf, selected } from './clickhouse-columns.js';
import { isWaiting, waitingBatches, type WaitingBatches } from './waiting-batches.js';
import { among, beyond, ID, moment, NEWEST_FIRST, OLDEST_FIRST, upTo } from './clickhouse-places.js';
import type { LogPosition } from './log-cursor.js';
import type { LogQuery } from './log-query.js';
import { LogRows, type LogStep, type LogStepRows, STORED_COLUMNS, type StoredColumn } from './log-rows.js';
import { merged, type LogKey, together } from './merged-rows.js';
import type { PostgresLogRows } from './postgres-log-rows.js';

interface Beside {
  readonly postgres: PostgresLogRows;
  readonly database: LogDatabase;
  /** Batches belong to no tenant. */
  readonly batches: Queryable;
}

/** A query of the rows in ClickHouse. */
interface RowsQuestion {
  readonly question: ClickHouseQuery;
  readonly where: string;
}

/** Finds the newest matching rows, up to a number. Days are counted back from a moment. */
interface LogPageSearch {
  readonly where: string;
  readonly before: string;
  readonly size: number;
}

/** The last row of a step, and how many were read. */
interface End extends LogPosition {
  readonly looked: number;
}

const PLACE = ['at', 'id'] as const;
const SLUGS = 'SELECT id, slug FROM workspaces WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/**
 * Reads stored requests from ClickHouse, and from PostgreSQL those not inserted there yet. The list of waiting batches is read first and
 * used for both queries: so each row is found once, however far the inserts get meanwhile.
 *
 * Only PostgreSQL can filter by feedback.
 */
export class ClickHouseLogRows extends LogRows {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly beside: Beside,
  ) {
    super();
  }

  async list(reach: Reach, query: LogQuery): Promise<readonly LogRow[]> {
    const waiting = await waitingBatches(this.beside.batches);
    const asked = await this.asked(reach, query.conditions, waiting);
    if (!asked) return this.beside.postgres.list(reach, query);
    const [stored, inbox] = await Promise.all([
      this.newest(reach, asked, query),
      this.inbox(waiting, (among) =>
        this.beside.postgres.list(reach, { ...query, conditions: [...query.conditions, ...among] }),
      ),
    ]);
    return this.named(
      reach,
      merged(stored, inbox)
        .reverse()
        .slice(0, query.size + 1),
    );
  }

  /**
   * Finds positions first, and searches a few days before all others. To sort rows, ClickHouse reads a block of every day with all
   * requested columns; with known positions it reads only their blocks.
   */
  private async newest(
    reach: Reach,
    asked: RowsQuestion,
    { after, size }: LogQuery,
  ): Promise<readonly Omit<LogRow, 'workspace_slug'>[]> {
    const { question } = asked;
    const where = asked.where + (after ? ` AND ${beyond(question, '<', after)}` : '');
    const before = moment(question, after?.at ?? new Date().toISOString());
    const places = await this.newestPlaces(asked, { where, before, size: size + 1 });
    const rows = await this.rows(
      reach,
      STORED_COLUMNS,
      asked,
      `${question.tenant(reach)} AND ${among(question, places)}`,
    );
    // A lagging replica, or a day that was just removed: a store with all of the rows is used instead.
    return rows.length === places.length
      ? rows
      : this.rows(reach, STORED_COLUMNS, asked, `${where} ${NEWEST_FIRST} LIMIT ${size + 1}`);
  }

  /**
   * Searches the newest day first, then as many days as should suffice, if those are few, and then all earlier ones. No day is searched
   * twice.
   */
  private async newestPlaces(
    asked: RowsQuestion,
    { where, before, size }: LogPageSearch,
  ): Promise<readonly LogKey[]> {
    const places: LogKey[] = [];
    let searched = 0;
    const search = async (days: number) => {
      const newer = days === ALL_DAYS ? '' : ` AND created_at > ${before} - INTERVAL ${days} DAY`;
      const older = searched === 0 ? '' : ` AND created_at <= ${before} - INTERVAL ${searched} DAY`;
      const missing = `${NEWEST_FIRST} LIMIT ${size - places.length}`;
      places.push(...(await this.places(asked, `${where}${newer}${older} ${missing}`)));
      searched = days;
    };
    await search(1);
    const enough = Math.ceil((2 * size) / places.length);
    if (places.length < size && enough <= FEW_DAYS) await search(enough);
    if (places.length < size) await search(ALL_DAYS);
    return places;
  }

  private async places({ question }: RowsQuestion, where: string): Promise<readonly LogKey[]> {
    const sql = `SELECT ${selected(PLACE)} FROM request_logs WHERE ${where}`;
    return rowsOf(PLACE, await this.clickhouse.readColumns(sql, question.parameters));
  }

  async step<Column extends StoredColumn>(
    reach: Reach,
    wanted: LogStep<Column>,
  ): Promise<LogStepRows<Column>> {
    const waiting = await waitingBatches(this.beside.batches);
    const asked = await this.asked(reach, wanted.conditions, waiting);
    if (!asked) return this.beside.postgres.step(reach, wanted);
    // The rows of both stores are merged by these columns.
    const columns: readonly (Column | 'at' | 'id')[] = [...new Set([...wanted.columns, ...PLACE])];
    const stored = await this.stepOfStored(reach, { ...wanted, columns }, asked, waiting);
    const until = stored.isLast || !stored.end ? wanted.until : new Date(stored.end.at);
    const [inbox] = await this.inbox(waiting, async (among) => [
      await this.beside.postgres.step(reach, { ...wanted, columns, among, until: afterMicroseconds(until) }),
    ]);
    return inbox ? together(stored, inbox) : stored;
  }

  async count(reach: Reach, { conditions }: Pick<LogQuery, 'conditions'>, most: number): Promise<number> {
    const waiting = await waitingBatches(this.beside.batches);
    const asked = await this.asked(reach, conditions, waiting);
    if (!asked) return this.beside.postgres.count(reach, { conditions }, most);
    const [stored] = await this.clickhouse.read<{ count: number }>(
      `SELECT count() AS count FROM (SELECT 1 FROM request_logs WHERE ${asked.where} LIMIT ${most})`,
      asked.question.parameters,
    );
    const [inbox = 0] = await this.inbox(waiting, async (among) => [
      await this.beside.postgres.count(reach, { conditions: [...conditions, ...among] }, most),
    ]);
    return Math.min(most, (stored?.count ?? 0) + inbox);
  }

  async trace(reach: Visibility, traceId: string, most: number): Promise<readonly LogRow[]> {
    const rows = await this.both(
      reach,
      (question) => `trace_id = ${question.bind(traceId, 'String')} ${OLDEST_FIRST} LIMIT ${most}`,
      (visibility) => this.beside.postgres.trace(visibility, traceId, most),
    );
    return rows.slice(0, most);
  }

  async find(reach: Visibility, id: string): Promise<LogRow | undefined> {
    const [row] = await this.both(
      reach,
      (question) => `id = ${question.bind(id, 'UUID')} LIMIT 1`,
      async (visibility) => {
        const found = await this.beside.postgres.find(visibility, id);
        return found ? [found] : [];
      },
    );
    return row;
  }

  private async both(
    reach: Visibility,
    rest: (question: ClickHouseQuery) => string,
    ofInbox: (visibility: Visibility) => Promise<readonly LogRow[]>,
  ): Promise<readonly LogRow[]> {
    const waiting = await waitingBatches(this.beside.batches);
    const asked = await this.asked(reach, reach.own, waiting);
    if (!asked) return ofInbox(reach);
    const [stored, inbox] = await Promise.all([
      this.rows(reach, STORED_COLUMNS, asked, `${asked.where} AND ${rest(asked.question)}`),
      this.inbox(waiting, (among) => ofInbox({ ...reach, own: [...reach.own, ...among] })),
    ]);
    return this.named(reach, merged(stored, inbox));
  }

  /** Null when ClickHouse has none. */
  private async asked(
    reach: Reach,
    conditions: readonly QueryCondition[],
    waiting: WaitingBatches | null,
  ): Promise<RowsQuestion | null> {
    const question = new ClickHouseQuery();
    const tenant = question.tenant(reach);
    const filters = await conditionsSql(question, conditions, async (sql, parameter) => {
      const rows = await this.beside.database.read<{ id: string }>(sql, [reach.organizationId, parameter]);
      return rows.map(({ id }) => id);
    });
    if (!filters) return null;
    const known = waiting ? [`batch_id NOT IN ${question.bind(waiting.ids, 'Array(UUID)')}`] : [];
    return { question, where: [tenant, ...filters, ...known].join(' AND ') };
  }

  private async inbox<Row>(
    waiting: WaitingBatches | null,
    read: (among: readonly QueryCondition[]) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    return waiting ? read(isWaiting(waiting)) : [];
  }

  private async rows<Column extends StoredColumn>(
    reach: Reach,
    columns: readonly Column[],
    { question }: RowsQuestion,
    where: string,
  ): Promise<readonly (Pick<LogRow, Column> & LogKey)[]> {
    const step = [...new Set([...columns, ...PLACE])];
    const stored = await this.clickhouse.readColumns<Column | 'at' | 'id' | 'is_whole'>(
      `SELECT ${selected(step)}, is_whole FROM request_logs WHERE ${where}`,
      question.parameters,
    );
    const found = rowsOf(step, stored);
    // Rows stored by a release that only counted in ClickHouse have little more than the numbers.
    const narrow = found.filter((_, index) => stored.data.is_whole?.[index] === false);
    return narrow.length === 0 ? found : this.completed(reach, found, narrow);
  }

  /** PostgreSQL has the complete rows of releases that only counted in ClickHouse. */
  private async completed<Row extends LogKey>(
    reach: Reach,
    rows: readonly Row[],
    narrow: readonly Row[],
  ): Promise<readonly Row[]> {
    const whole = new Map<string, Partial<LogRow>>();
    for (const row of await this.beside.postgres.at(reach, narrow)) whole.set(row.id, row);
    return rows.map((row) => ({ ...row, ...whole.get(row.id) }));
  }

  private async stepOfStored<Column extends StoredColumn>(
    reach: Reach,
    { columns, after, until, size }: LogStep<Column>,
    asked: RowsQuestion,
    waiting: WaitingBatches | null,
  ): Promise<LogStepRows<Column> & { readonly rows: readonly LogKey[] }> {
    const end = await this.endOfStep(reach, { after, until, size }, waiting);
    if (!end || end.looked === 0) return { rows: [], end: null, isLast: true };
    const { question, where } = asked;
    const from = after ? ` AND ${beyond(question, '>', after)}` : '';
    const rows = await this.rows(
      reach,
      columns,
      asked,
      `${where}${from} AND ${upTo(question, end)} ${OLDEST_FIRST}`,
    );
    return { rows, end, isLast: end.looked < size };
  }

  /**
   * The last row of the next step. Sorting by time alone reads few blocks; the exact end is then determined among the rows up to that time.
   * Within one day if it has enough rows: as for positions, a block of every day would be read otherwise.
   */
  private async endOfStep(
    reach: Reach,
    { after, until, size }: Pick<LogStep<StoredColumn>, 'after' | 'until' | 'size'>,
    waiting: WaitingBatches | null,
  ): Promise<End | null> {
    const edge = await this.asked(reach, [], waiting);
    if (!edge) return null;
    const { question } = edge;
    const last = question.bind(until.getTime(), 'Int64');
    const where = `${edge.where} AND created_at <= fromUnixTimestamp64Milli(${last}, 'UTC')`;
    if (!after) return this.lastOf(question, where, size);
    const begun = `${where} AND ${beyond(question, '>', after)}`;
    const { data } = await this.clickhouse.readColumns<'at'>(
      `SELECT created_at AS at FROM request_logs WHERE ${begun} AND created_at < ${moment(question, after.at)} + INTERVAL 1 DAY
       ORDER BY created_at LIMIT 1 OFFSET ${size - 1}`,
      question.parameters,
    );
    const at = data.at?.[0];
    const near = at === undefined ? '' : ` AND created_at <= ${moment(question, at as string)}`;
    return this.lastOf(question, begun + near, size);
  }

  private async lastOf(question: ClickHouseQuery, where: string, size: number): Promise<End | null> {
    const [end = null] = await this.clickhouse.read<End>(
      `SELECT concat(replaceOne(toString(last.1), ' ', 'T'), 'Z') AS at, last.3 AS id, looked FROM (
         SELECT max((created_at, ${ID}, id)) AS last, count() AS looked FROM (
           SELECT created_at, id FROM request_logs WHERE ${where} ${OLDEST_FIRST} LIMIT ${size}))`,
      question.parameters,
    );
    return end;
  }

  private async named(
    reach: Reach,
    rows: readonly Omit<LogRow, 'workspace_slug'>[],
  ): Promise<readonly LogRow[]> {
    const ids = [...new Set(rows.flatMap(({ workspace_id }) => workspace_id ?? []))];
    const found = ids.length === 0 ? [] : await this.slugs(reach, ids);
    const slugs = new Map(found.map(({ id, slug }) => [id, slug]));
    return rows.map((row) => ({ ...row, workspace_slug: slugs.get(row.workspace_id ?? '') ?? null }));
  }

  private slugs(
    { organizationId }: Reach,
    ids: readonly string[],
  ): Promise<readonly { readonly id: string; readonly slug: string }[]> {
    return this.beside.database.read(SLUGS, [organizationId, ids]);
  }
}

/** If days have so few rows that more of them would be needed, all are searched at once. */
const FEW_DAYS = 10;

const ALL_DAYS = Infinity;

/** JavaScript dates drop microseconds. */
const afterMicroseconds = (moment: Date): Date => new Date(moment.getTime() + 1);
