import type { Queryable } from '../../database/queryable.js';
import type { RowsOf } from '../../request-log/retention/kept-times.js';
import { NIL_ID } from '../../request-log/rollups/dimensions.js';
import { type LogDay, partitionOf } from './log-days.js';

/** Rows copied per statement, so that none takes long: the bodies of one row may have 640 KiB. */
const stepOf = (table: string): number => (table === 'request_bodies' ? 1_000 : 20_000);

/** Thrown when the process ends midway: the transaction is rolled back, and the next process starts again. */
export class RetentionInterruptedError extends Error {}

export interface RewriteRequest {
  readonly table: string;
  readonly day: LogDay;
  /** The tenants whose rows are not copied. */
  readonly without: readonly RowsOf[];
  readonly isStopping: () => boolean;
}

/** The request id's column in a table. */
const idOf = (table: string): string => (table === 'request_bodies' ? 'request_id' : 'id');

/**
 * Copies the kept rows of a day into a new table beside its partition, in steps of many requests, and leaves the partition unchanged. The
 * caller's transaction has locked the partition against writers. `takeOver` replaces it with the new table.
 */
export async function copyKept(transaction: Queryable, rewriting: RewriteRequest): Promise<void> {
  const { table, day, isStopping } = rewriting;
  const [from, to] = [partitionOf(table, day), newNameOf(rewriting)];
  const id = idOf(table);
  await transaction.query(`CREATE TABLE "${to}" (LIKE ${table} INCLUDING ALL)`);
  // A constraint that proves the range spares ATTACH a scan of the rows.
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

/** Readers wait from here on until the commit. */
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

/** $3 and $4 are the organizations and workspaces whose rows expired. The owner of a body is that of its request. */
function stays({ table, day }: RewriteRequest): string {
  const isExpired = (row: string): string =>
    `(${row}.organisation_id, coalesce(${row}.workspace_id, '${NIL_ID}')) IN (SELECT * FROM unnest($3::uuid[], $4::uuid[]))`;
  if (table !== 'request_bodies') return `NOT ${isExpired('kept')}`;
  return `EXISTS (SELECT 1 FROM "${partitionOf('request_logs', day)}" AS request
    WHERE request.id = kept.request_id AND request.created_at = kept.created_at AND NOT ${isExpired('request')})`;
}

export const idsOf = (tenants: readonly RowsOf[]): [organizations: string[], workspaces: string[]] => [
  tenants.map(({ organization_id }) => organization_id),
  tenants.map(({ workspace_id }) => workspace_id ?? NIL_ID),
];

/** By name, because the column order of an older partition may differ. Without generated columns. */
async function columnsOf(transaction: Queryable, table: string): Promise<string> {
  const [row] = await transaction.query<{ names: string }>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  );
  return row?.names ?? '';
}
