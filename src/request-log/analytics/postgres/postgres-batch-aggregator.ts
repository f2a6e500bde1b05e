import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { addRequests, ensurePartitionsFor } from '../../rollups/add-requests.js';
import { startOf } from '../../rollups/granularities.js';
import { readSeals } from '../../rollups/seals.js';
import { boundsOf, countOnce, OF_BATCHES, type CountedBatch } from '../count-once.js';
import type { Aggregation, BatchAggregator } from '../usage-store.js';

const DAYS_OF_BATCHES = `SELECT DISTINCT date_trunc('day', created_at, 'UTC') AS day FROM request_logs WHERE ${OF_BATCHES}`;

/** Maximum number of batches counted together. */
const BATCHES_MAX = 32;
/** After a round of this many rows, a pause lets batches accumulate for the next one. */
const BUSY_ROWS = 1_000;
const ROUND_MS = 2_000;

interface WaitingAggregation {
  readonly batchId: string;
  readonly resolve: (outcome: Aggregation) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Adds stored batches of request logs to the rollups of PostgreSQL, in the transaction that marks them.
 *
 * The cost is per rollup row updated, not per request added, so under heavy traffic all waiting batches are counted together in a round
 * every two seconds. Under light traffic each is counted on arrival.
 */
export class PostgresBatchAggregator implements BatchAggregator {
  private asked: WaitingAggregation[] = [];
  private isCounting = false;
  private pauseUntil = 0;

  constructor(private readonly database: DataSource) {}

  aggregate(batchId: string): Promise<Aggregation> {
    return new Promise((resolve, reject) => {
      this.asked.push({ batchId, resolve, reject });
      if (!this.isCounting) void this.countAll();
    });
  }

  private async countAll(): Promise<void> {
    this.isCounting = true;
    while (this.asked.length > 0) {
      await sleep(Math.max(0, this.pauseUntil - Date.now()));
      const round = this.asked.splice(0, BATCHES_MAX);
      const isTogether = await this.settle(round);
      // A batch that cannot be counted must not block the others.
      if (!isTogether) for (const request of round) await this.settle([request]);
    }
    this.isCounting = false;
  }

  /** False when several batches could not be counted together. */
  private async settle(round: readonly WaitingAggregation[]): Promise<boolean> {
    try {
      const outcomes = await this.count(round.map(({ batchId }) => batchId));
      for (const [at, { resolve }] of round.entries()) resolve(outcomes[at] ?? 'absent');
    } catch (error) {
      if (round.length > 1) return false;
      for (const { reject } of round) reject(error);
    }
    return true;
  }

  private count(ids: readonly string[]): Promise<readonly Aggregation[]> {
    const began = Date.now();
    return countOnce(this.database, ids, {
      prepare: (batches) => this.prepare(batches),
      add: async (transaction, batches) => {
        const parameters = boundsOf(batches);
        const [, first, last] = parameters;
        const requests = { where: OF_BATCHES, parameters, first, last };
        await addRequests(transaction, await readSeals(transaction), requests);
        this.pauseUntil = pauseAfter(began, batches);
      },
    });
  }

  private async prepare(batches: readonly CountedBatch[]): Promise<void> {
    await ensurePartitionsFor(this.database, await readSeals(this.database), await this.daysOf(batches));
  }

  private async daysOf(batches: readonly CountedBatch[]): Promise<readonly Date[]> {
    const [ids, first, last] = boundsOf(batches);
    const day = startOf('day', first.getTime());
    if (day === startOf('day', last.getTime())) return [new Date(day)];
    const days = await this.database.query<{ day: Date }[]>(DAYS_OF_BATCHES, [ids, first, last]);
    return days.map((row) => row.day);
  }
}

/** A backlog is processed without pauses. */
function pauseAfter(began: number, batches: readonly CountedBatch[]): number {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  return rows >= BUSY_ROWS && batches.length < BATCHES_MAX ? began + ROUND_MS : 0;
}
