import { CheckFailure, type ReadinessCheck } from '../common/supervision/probes.js';
import type { Queryable } from '../database/queryable.js';

const FRESH_MS = 10_000;
/** Shorter failures are retried before anyone could act. */
const PATIENCE = '1 minute';

/** Tables of receivers, by the name of their check. */
const RECEIVERS = {
  'audit destinations': {
    table: 'audit_destinations WHERE is_enabled AND',
    title: 'Audit destinations',
  },
  'log sinks': { table: 'log_sinks WHERE', title: 'Log sinks' },
} as const;

/** Receivers that accept nothing, for `/readyz?verbose`. It names none of them, because anyone may read it. */
export const deliveryChecks = (database: Queryable): ReadinessCheck[] =>
  Object.entries(RECEIVERS).map(([name, { table, title }]) => ({
    name,
    isVital: false,
    freshMs: FRESH_MS,
    run: async () => {
      const [row] = await database.query<{ count: string; since: Date | null }>(
        `SELECT count(*) AS count, min(failing_since) AS since FROM ${table} failing_since < now() - interval '${PATIENCE}'`,
      );
      if (row?.since)
        throw new CheckFailure(
          `${title} that accept nothing: ${row.count}, the first since ${row.since.toISOString()}.`,
        );
    },
  }));
