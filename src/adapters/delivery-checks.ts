import { CheckFailure, type ReadinessCheck } from '../common/supervision/probes.js';
import type { Queryable } from '../database/queryable.js';

const FRESH_MS = 10_000;
/** Shorter failures are retried before anyone could act. */
const STATEMENT_TIMEOUT = '1 minute';

interface DeliveryCheck {
  readonly rows: string;
  /** When the failure of a row began. */
  readonly since: string;
  readonly title: string;
}

/** What should leave the installation and does not, by the name of its check. */
const DELIVERIES: Readonly<Record<string, DeliveryCheck>> = {
  'audit destinations': {
    rows: 'audit_destinations WHERE is_enabled',
    since: 'failing_since',
    title: 'Audit destinations that accept nothing',
  },
  'log sinks': {
    rows: 'log_sinks WHERE true',
    since: 'failing_since',
    title: 'Log sinks that accept nothing',
  },
  mails: { rows: 'mails WHERE sent_at IS NULL', since: 'created_at', title: 'Mails that were not sent' },
  'limit alerts': {
    // Older ones are not retried.
    rows: "limit_alerts WHERE done_at IS NULL AND created_at > now() - interval '1 day'",
    since: 'created_at',
    title: 'Limit alerts that were not sent',
  },
  'log exports': {
    rows: "log_exports WHERE status = 'in_progress' AND problem IS NOT NULL",
    since: 'created_at',
    title: 'Log exports that are retried',
  },
};

/** Deliveries that fail, for `/readyz?verbose`. It names no receiver, because anyone may read it. */
export const deliveryChecks = (database: Queryable): ReadinessCheck[] =>
  Object.entries(DELIVERIES).map(([name, { rows, since, title }]) => ({
    name,
    isVital: false,
    freshMs: FRESH_MS,
    run: async () => {
      const [row] = await database.query<{ count: string; since: Date | null }>(
        `SELECT count(*) AS count, min(${since}) AS since FROM ${rows} AND ${since} < now() - interval '${STATEMENT_TIMEOUT}'`,
      );
      if (row?.since)
        throw new CheckFailure(`${title}: ${row.count}, the first since ${row.since.toISOString()}.`);
    },
  }));
