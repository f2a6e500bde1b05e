import type { QueryRunner } from 'typeorm';

/** An index of a table that may be large. */
export interface LargeIndex {
  /** Begins with the name of the table. */
  readonly name: string;
  readonly table: string;
  /** What follows the name of the table in `CREATE INDEX`: the columns, and INCLUDE or WHERE. */
  readonly columns: string;
}

/**
 * Builds an index without holding up writes. Only for migrations with `transaction = false`, because CREATE INDEX CONCURRENTLY cannot run
 * in a transaction: https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY
 *
 * Can be called again after it was interrupted: a valid index is kept, and an invalid one is dropped and built again.
 */
export async function buildIndex(runner: QueryRunner, index: LargeIndex): Promise<void> {
  const [table] = await runner.manager.query<{ is_partitioned: boolean }[]>(
    `SELECT relkind = 'p' AS is_partitioned FROM pg_class WHERE oid = $1::regclass`,
    [index.table],
  );
  await (table?.is_partitioned ? buildOnPartitions(runner, index) : buildOnTable(runner, index));
}

const VALIDITY = `SELECT indisvalid AS is_valid FROM pg_index WHERE indexrelid = to_regclass($1)`;

async function buildOnTable(runner: QueryRunner, { name, table, columns }: LargeIndex): Promise<void> {
  const [existing] = await runner.manager.query<{ is_valid: boolean }[]>(VALIDITY, [name]);
  if (existing?.is_valid) return;
  await withoutLockTimeout(runner, async () => {
    if (existing) await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} ${columns}`);
  });
}

/** A partition of `table` that has no index which is attached to `name`. */
const NEXT_PARTITION = `
  SELECT p.inhrelid::regclass::text AS partition FROM pg_inherits p
  WHERE p.inhparent = $1::regclass AND NOT EXISTS (
    SELECT FROM pg_index i JOIN pg_inherits a ON a.inhrelid = i.indexrelid
    WHERE i.indrelid = p.inhrelid AND a.inhparent = $2::regclass
  )
  ORDER BY 1 LIMIT 1`;

/**
 * PostgreSQL builds no index of a partitioned table concurrently. The index of the parent is created first, so that new partitions get it;
 * it becomes valid with the last partition: https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE
 */
async function buildOnPartitions(runner: QueryRunner, { name, table, columns }: LargeIndex): Promise<void> {
  await runner.query(`CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${columns}`);
  for (;;) {
    const [next] = await runner.manager.query<{ partition: string }[]>(NEXT_PARTITION, [table, name]);
    if (!next) return;
    const part = `${next.partition}${name.slice(table.length)}`;
    await buildOnTable(runner, { name: part, table: next.partition, columns });
    await runner.query(`ALTER INDEX ${name} ATTACH PARTITION ${part}`);
  }
}

/** A concurrent build waits for older transactions, and nothing waits for it meanwhile. */
async function withoutLockTimeout(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  const [before] = await runner.manager.query<{ lock_timeout: string }[]>('SHOW lock_timeout');
  await runner.query('SET lock_timeout = 0');
  try {
    await work();
  } finally {
    await runner.query(`SET lock_timeout = '${before?.lock_timeout ?? 0}'`);
  }
}
