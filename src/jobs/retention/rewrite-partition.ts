import type { Queryable } from '../../database/queryable.js';
import type { RowsOf } from '../../request-log/retention/kept-times.js';
import { NIL_ID } from '../../request-log/rollups/dimensions.js';
import { type LogDay, partitionOf } from './log-days.js';

/** Rows that one statement copies, so that none takes long: bodies of one may have 640 KiB each. */
const stepOf = (table: string): number => (table === 'request_bodies' ? 1_000 : 20_000);

/** Thrown where a process ends in the middle: the transaction is undone, and the next one starts again. */
export class RetentionInterruptedError extends Error {}

export interface RewriteRequest {
  readonly table: string;
  readonly day: LogDay;
  /** Whose rows stay behind. */
  readonly without: readonly RowsOf[];
  readonly isStopping: () => boolean;
}

/** What a table calls the id of a request. */
const idOf = (table: string): string => (table === 'request_bodies' ? 'request_id' : 'id');

/**
 * Copies what is kept of a day into a new table beside its partition, in steps of many requests, and leaves the partition
 * as it is. The caller's transaction has locked that against writers. `takeOver` puts the new one in its place.
 */
export async function copyKept(transaction: Queryable, rewriting: RewriteRequest): Promise<void> {
  const { table, day, isStopping } = rewriting;
  const [from, to] = [partitionOf(table, day), newNameOf(rewriting)];
  const id = idOf(table);
  await transaction.query(`CREATE TABLE "${to}" (LIKE ${table} INCLUDING ALL)`);
  // What proves that all rows belong here spares the attaching from reading them.
  await transaction.query(
    `ALTER TABLE "${to}" ADD CONSTRAINT of_its_day CHECK (created_at >= '${day.from.toISOString()}' AND created_at < '${day.to.toISOString()}')`,
  );
  const columns = await columnsOf(transaction, table);
  for (let after: string | null = NIL_ID; after !== null;) {
    if (isStopping()) throw new RetentionInterruptedError('This process ends.');
    const [end]: { id: string }[] = await transaction.query(
      `SELECT ${id} AS id FROM "${from}" WHERE ${id} > $1 ORDER BY ${id} OFFSET ${stepOf(table)} LIMIT 1`,
      [after],
    );
    await transaction.query(
      `INSERT INTO "${to}" (${columns}) SELECT ${columns} FROM "${from}" AS kept
       WHERE ${id} > $1 AND ($2::uuid IS NULL OR ${id} <= $2) AND ${stays(rewriting)}`,
      [after, end?.id ?? null, ...idsOf(rewriting.without)],
    );
    after = end?.id ?? null;
  }
}

/** From here on until the commit readers wait. */
export async function takeOver(transaction: Queryable, rewriting: RewriteRequest): Promise<void> {
  const { table, day } = rewriting;
  const name = partitionOf(table, day);
  await transaction.query(`DROP TABLE "${name}"`);
  await transaction.query(`ALTER TABLE "${newNameOf(rewriting)}" RENAME TO "${name}"`);
  await transaction.query(
    `ALTER TABLE ${table} ATTACH PARTITION "${name}" FOR VALUES FROM ('${day.from.toISOString()}') TO ('${day.to.toISOString()}')`,
  );
  await transaction.query(`ALTER TABLE "${name}" DROP CONSTRAINT of_its_day`);
}

const newNameOf = ({ table, day }: RewriteRequest): string => `${partitionOf(table, day)}_kept`;

/** $3 and $4 are organizations and workspaces whose rows are over. The requests of bodies tell whose they are. */
function stays({ table, day }: RewriteRequest): string {
  const isOver = (row: string): string =>
    `(${row}.organisation_id, coalesce(${row}.workspace_id, '${NIL_ID}')) IN (SELECT * FROM unnest($3::uuid[], $4::uuid[]))`;
  if (table !== 'request_bodies') return `NOT ${isOver('kept')}`;
  return `EXISTS (SELECT 1 FROM "${partitionOf('request_logs', day)}" AS request
    WHERE request.id = kept.request_id AND request.created_at = kept.created_at AND NOT ${isOver('request')})`;
}

export const idsOf = (tenants: readonly RowsOf[]): [organizations: string[], workspaces: string[]] => [
  tenants.map(({ organization_id }) => organization_id),
  tenants.map(({ workspace_id }) => workspace_id ?? NIL_ID),
];

/** By name, because columns that were added later may stand elsewhere in an older partition. What the database works out itself is no part of it. */
async function columnsOf(transaction: Queryable, table: string): Promise<string> {
  const [row] = await transaction.query<{ names: string }>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  );
  return row?.names ?? '';
}
