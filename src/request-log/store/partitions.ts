import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';

/** One connection, reduced to a function so that both TypeORM's query runner and `pg` fit. Returns rows. */
export type RunSql = (sql: string) => Promise<readonly Record<string, unknown>[]>;

/** Tables that are partitioned by day. */
export const PARTITIONED = ['request_logs', 'request_attempts', 'request_bodies'] as const;

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_AHEAD = 7;
const CHECK_VIOLATION = '23514';

/** The result of `ensureLogPartitions`, by names of partitions and parents. */
export interface PartitionReport {
  readonly created: readonly string[];
  /** Days that have rows in the default partition: PostgreSQL then refuses to create their partition. */
  readonly blocked: readonly string[];
  /** Parents whose default partition holds rows, which partition-wise retention cannot reach. */
  readonly strays: readonly string[];
}

/**
 * Ensures that every table of the request log has a partition for each day from yesterday to `daysAhead`.
 *
 * Must run inside a transaction, on one connection. A partition is created as a separate table and then attached: `ATTACH PARTITION` takes
 * a lock that does not block writers of the other partitions
 * (https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE). Gives up after waiting two
 * seconds for a lock (error 55P03), so that a long query cannot stop the log.
 */
export async function ensureLogPartitions(
  run: RunSql,
  daysAhead = DAYS_AHEAD,
  now = Date.now(),
): Promise<PartitionReport> {
  await run("SET LOCAL lock_timeout = '2s'");
  await run(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.partitions})`);
  const there = await existing(run);
  const created: string[] = [];
  const blocked: string[] = [];
  for (const parent of PARTITIONED)
    for (let day = -1; day <= daysAhead; day++) {
      const partition = partitionOf(parent, now + day * DAY_MS);
      if (there.has(partition.name)) continue;
      const attached = await attach(run, partition);
      (attached ? created : blocked).push(partition.name);
    }
  return { created, blocked, strays: await strays(run) };
}

interface Partition {
  readonly parent: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

function partitionOf(parent: string, at: number): Partition {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const from = day(at);
  const to = day(Date.parse(from) + DAY_MS);
  return {
    parent,
    name: `${parent}_${from.replaceAll('-', '')}`,
    from: `${from} 00:00:00+00`,
    to: `${to} 00:00:00+00`,
  };
}

async function existing(run: RunSql): Promise<ReadonlySet<unknown>> {
  const parents = PARTITIONED.map((parent) => `'${parent}'::regclass`).join(', ');
  const rows = await run(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent IN (${parents})`,
  );
  return new Set(rows.map(({ name }) => name));
}

async function attach(run: RunSql, { parent, name, from, to }: Partition): Promise<boolean> {
  await run('SAVEPOINT attaching');
  try {
    await run(`CREATE TABLE ${name} (LIKE ${parent} INCLUDING ALL)`);
    await run(`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
    await run('RELEASE SAVEPOINT attaching');
    return true;
  } catch (error) {
    await run('ROLLBACK TO SAVEPOINT attaching');
    if (codeOf(error) === CHECK_VIOLATION) return false;
    throw error;
  }
}

async function strays(run: RunSql): Promise<readonly string[]> {
  const found: string[] = [];
  for (const parent of PARTITIONED) {
    const [row] = await run(`SELECT EXISTS (SELECT 1 FROM ${parent}_default) AS held`);
    if (row?.['held'] === true) found.push(parent);
  }
  return found;
}

/** TypeORM wraps the driver's error but keeps its `code`. */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
