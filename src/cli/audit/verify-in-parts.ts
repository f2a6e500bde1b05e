import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Client } from 'pg';
import { AuditSeal } from '../../admin/audit/audit-seal.js';
import type { ChainPart } from '../../admin/audit/chain-rows.js';
import { type ChainReport, verifyChain } from '../../admin/audit/verify-chain.js';
import type { Secret } from '../../common/settings/secret.js';
import type { PartJob, PartNews } from './verify-worker.js';

/** Access to read a chain and verify its seals. */
export interface ChainAccess {
  readonly url: Secret;
  /** 32 bytes in base64. */
  readonly sealKey: Secret;
}

/** The organization whose chain is checked, and the progress callback. */
interface ChainJob {
  readonly organizationId: string;
  readonly onProgress: (records: number) => void;
  readonly cut?: ChainParts;
}

/** The maximum number of parts of a chain, and the minimum number of records per part. */
interface ChainParts {
  readonly most: number;
  readonly smallest: number;
}

/** One reader per core; more than eight only wait for the database. Starting a thread takes time. */
const CUT: ChainParts = { most: Math.min(availableParallelism(), 8), smallest: 50_000 };

/**
 * Checks the chain of an organization in one part per core, each in a thread with its own connection, all of them in the snapshot that
 * `client` holds. Reports the first wrong record of the first wrong part.
 */
export async function verifyInParts(
  client: Client,
  { url, sealKey }: ChainAccess,
  { organizationId, onProgress, cut = CUT }: ChainJob,
): Promise<ChainReport> {
  const parts = partsOf(await numberOfLast(client, organizationId), cut);
  if (parts.length === 1)
    return verifyChain({ client, seal: new AuditSeal(sealKey), organizationId, onProgress });
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const { rows } = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    const job = {
      url: url.reveal(),
      sealKey: sealKey.reveal(),
      organizationId,
      snapshot: rows[0]?.snapshot ?? '',
    };
    const right = parts.map(() => 0);
    const reports = await Promise.all(
      parts.map((part, index) =>
        verifyByThread({ ...job, part }, (records) => {
          right[index] = records;
          onProgress(right.reduce((sum, each) => sum + each));
        }),
      ),
    );
    return firstBroken(reports);
  } finally {
    await client.query('COMMIT');
  }
}

async function numberOfLast(client: Client, organizationId: string): Promise<number> {
  const { rows } = await client.query<{ seq: string }>(
    'SELECT seq FROM audit_heads WHERE organization_id = $1',
    [organizationId],
  );
  return Number(rows[0]?.seq ?? 0);
}

/** Without gaps; the last part extends to the end of the chain. */
function partsOf(records: number, { most, smallest }: ChainParts): ChainPart[] {
  const count = Math.min(most, Math.ceil(records / smallest)) || 1;
  const size = Math.ceil(records / count);
  return Array.from({ length: count }, (_, index) => ({
    after: index * size,
    upTo: index === count - 1 ? null : (index + 1) * size,
  }));
}

async function verifyByThread(job: PartJob, onProgress: (records: number) => void): Promise<ChainReport> {
  const worker = new Worker(new URL('./verify-worker.js', import.meta.url), { workerData: job });
  let report: ChainReport | undefined;
  worker.on('message', (news: PartNews) => {
    if ('report' in news) report = news.report;
    else onProgress(news.records);
  });
  // Rejects with the error that ended the thread.
  await once(worker, 'exit');
  if (!report) throw new Error('A thread that checked a part of the chain stopped without a result.');
  return report;
}

function firstBroken(reports: readonly ChainReport[]): ChainReport {
  const broken = reports.find(({ problem }) => problem !== null);
  return broken ?? { records: reports.at(-1)?.records ?? 0, brokenAt: null, problem: null };
}
