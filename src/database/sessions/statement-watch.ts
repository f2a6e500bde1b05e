import { Counter, Histogram } from 'prom-client';
import type { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';
import { createLogger } from '../../common/observability/logger.js';
import { slowStatementMs } from '../../common/settings/log-settings.js';

/** Longer texts are lists of columns or of values that are part of the text. */
const TEXT_LENGTH_MAX = 300;
/** Time between two lines about slow statements of one use. */
const SILENCE_MS = 10_000;

const durations = new Histogram({
  name: 'gatehouse_database_statement_seconds',
  help: 'Duration of statements to PostgreSQL, by the use of their connection. Statements sent together count as one.',
  labelNames: ['use'],
  buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30],
});
const slow = new Counter({
  name: 'gatehouse_database_slow_statements_total',
  help: 'Statements to PostgreSQL that took GATEHOUSE_SLOW_STATEMENT_MS or longer, by the use of their connection.',
  labelNames: ['use'],
});

const logger = createLogger('database');
const slowMs = slowStatementMs();
const reportedAt = new Map<string, number>();

/** Measures the statements of one connection, which runs one at a time. */
export class StatementWatch {
  private startedAt: number | null = null;
  private statement: unknown;

  constructor(private readonly use: keyof typeof POSTGRES_TIMEOUTS) {}

  /** `statement`: the text, or an object with it, as `pg` takes them. */
  began(statement: unknown): void {
    if (this.startedAt !== null) return;
    this.startedAt = performance.now();
    this.statement = statement;
  }

  /** All statements are answered, or the connection is lost. */
  ended(): void {
    if (this.startedAt === null) return;
    const { use } = this;
    const ms = performance.now() - this.startedAt;
    this.startedAt = null;
    durations.observe({ use }, ms / 1_000);
    if (logger.isLevelEnabled('debug'))
      logger.debug(
        { use, duration_ms: Math.round(ms), statement: textOf(this.statement) },
        'A statement ended.',
      );
    if (ms < slowMs) return;
    slow.inc({ use });
    report(use, ms, this.statement);
  }
}

function report(use: string, ms: number, query: unknown): void {
  const now = performance.now();
  if (now - (reportedAt.get(use) ?? -Infinity) < SILENCE_MS) return;
  reportedAt.set(use, now);
  const statement = textOf(query);
  logger.warn({ use, duration_ms: Math.round(ms), statement }, 'A statement to the database was slow.');
}

/** Without its parameters, which hold what users sent. */
function textOf(statement: unknown): string {
  const text = typeof statement === 'string' ? statement : (statement as { readonly text?: unknown })?.text;
  const line = typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : 'unknown';
  return line.length > TEXT_LENGTH_MAX ? `${line.slice(0, TEXT_LENGTH_MAX)}…` : line;
}
