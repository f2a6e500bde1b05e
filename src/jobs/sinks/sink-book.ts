import type { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import { CLAIMABLE, type ClaimedCursor, DeliveryCursors, LEASED } from '../delivery-cursors.js';
import type { BatchWindow, LogBatch } from './log-sink.js';
import { type GuardrailRun, guardrailRunsIn, type StoredHookResults } from './guardrail-run.js';
import {
  ATTEMPTS_OF_BATCHES,
  HOOK_RESULTS_OF_BATCHES,
  ROWS_OF_BATCHES,
  type SentAttempt,
  type SentRow,
} from './sent-row.js';

const MOST_NUMBERED = 2_000;
const MOST_BATCHES = 2_000;

/** A new sink begins with requests stored from now on; an existing one keeps its cursor. */
const REGISTER = `
  INSERT INTO log_sinks (id, delivered_seq) SELECT $1, coalesce(max(seq), 0) FROM log_batches ON CONFLICT DO NOTHING`;

const NUMBER = `
  UPDATE log_batches SET seq = nextval('log_batch_numbers') FROM (
    SELECT id AS waiting FROM log_batches
    WHERE seq IS NULL AND created_at >= (SELECT min(created_at) FROM log_sinks)
    ORDER BY created_at LIMIT ${MOST_NUMBERED} FOR UPDATE SKIP LOCKED
  ) AS unnumbered WHERE id = waiting`;

const CLAIM = `
  UPDATE log_sinks SET ${LEASED} WHERE id = $1 AND ${CLAIMABLE}
  RETURNING id, delivered_seq AS "deliveredSeq", leased_until::text AS lease`;

const NEXT = `
  SELECT id, seq, rows, min_created_at - interval '1 ms' AS first, max_created_at + interval '1 ms' AS last,
    extract(epoch FROM clock_timestamp() - created_at)::float8 AS age
  FROM log_batches WHERE seq > $1 ORDER BY seq LIMIT ${MOST_BATCHES}`;

const LAG = `
  SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 AS age
  FROM log_batches WHERE seq > (SELECT delivered_seq FROM log_sinks WHERE id = $1) ORDER BY seq LIMIT 1`;

type AgedBatch = LogBatch & { readonly age: number };

/** The batches that each sink has received, and its next ones. */
export class SinkBook {
  readonly cursors: DeliveryCursors;

  constructor(private readonly database: DataSource) {
    this.cursors = new DeliveryCursors(database, 'log_sinks');
  }

  async register(sinkId: string): Promise<void> {
    await this.database.query(REGISTER, [sinkId]);
  }

  /** Numbers the batches committed since. If another process is doing so, it is left to that one. */
  async number(): Promise<void> {
    await this.database.transaction(async (manager) => {
      const [turn] = await manager.query<{ mine: boolean }[]>(
        'SELECT pg_try_advisory_xact_lock($1) AS mine',
        [ADVISORY_LOCKS.batchNumbers],
      );
      if (turn?.mine === true) await manager.query(NUMBER);
    });
  }

  /** Null when it is not due, or another process has claimed it. */
  async claim(sinkId: string): Promise<ClaimedCursor | null> {
    const [[claimed]]: [ClaimedCursor[], number] = await this.database.query(CLAIM, [sinkId]);
    return claimed ?? null;
  }

  /** The next batches, as many as fit one delivery, but at least one; none while they may still accumulate. */
  async next({ deliveredSeq }: ClaimedCursor, { rows, seconds }: BatchWindow): Promise<readonly LogBatch[]> {
    const waiting = await this.database.query<AgedBatch[]>(NEXT, [deliveredSeq]);
    let sum = 0;
    const taken = waiting.filter((batch, at) => (sum += batch.rows) <= rows || at === 0);
    const isFull = taken.length < waiting.length || waiting.length === MOST_BATCHES;
    return isFull || (waiting[0]?.age ?? 0) >= seconds ? taken : [];
  }

  async rows(batches: readonly LogBatch[]): Promise<readonly SentRow[]> {
    const of = placeOf(batches);
    const rows = await this.database.query<Omit<SentRow, 'attempts'>[]>(ROWS_OF_BATCHES, of);
    const attempts = new Map<string, SentAttempt[]>(rows.map(({ id }) => [id, []]));
    for (const { id, ...attempt } of await this.database.query<(SentAttempt & { id: string })[]>(
      ATTEMPTS_OF_BATCHES,
      of,
    ))
      attempts.get(id)?.push(attempt);
    return rows.map((row) => ({ ...row, attempts: attempts.get(row.id) ?? [] }));
  }

  async guardrailRuns(batches: readonly LogBatch[]): Promise<Map<string, readonly GuardrailRun[]>> {
    const rows = await this.database.query<{ id: string; hook_results: StoredHookResults }[]>(
      HOOK_RESULTS_OF_BATCHES,
      placeOf(batches),
    );
    return new Map(rows.map(({ id, hook_results }) => [id, guardrailRunsIn(hook_results)]));
  }

  /** How long the oldest undelivered batch has waited, in seconds; 0 without one. */
  async lagSeconds(sinkId: string): Promise<number> {
    const [oldest] = await this.database.query<{ age: number }[]>(LAG, [sinkId]);
    return oldest?.age ?? 0;
  }
}

/** The parameters of a query for the rows of batches. */
const placeOf = (batches: readonly LogBatch[]): [ids: string[], first: Date, last: Date] => [
  batches.map(({ id }) => id),
  new Date(Math.min(...batches.map(({ first }) => first.getTime()))),
  new Date(Math.max(...batches.map(({ last }) => last.getTime()))),
];
