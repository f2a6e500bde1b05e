import { parentPort, workerData } from 'node:worker_threads';
import { AuditSeal } from '../../admin/audit/audit-seal.js';
import type { ChainPart } from '../../admin/audit/chain-rows.js';
import { type ChainReport, verifyChain } from '../../admin/audit/verify-chain.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { Secret } from '../../common/settings/secret.js';

/** The input of a thread. */
export interface PartJob {
  readonly url: string;
  readonly sealKey: string;
  readonly organizationId: string;
  readonly snapshot: string;
  readonly part: ChainPart;
}

/** Messages of a thread: the number of correct records so far, and finally its result. */
export type PartNews = { readonly records: number } | { readonly report: ChainReport };

const report = (news: PartNews): void => parentPort?.postMessage(news);

/** Checks one part of a chain, in a separate thread. */
async function main({ url, sealKey, organizationId, snapshot, part }: PartJob): Promise<void> {
  const client = postgresClient('commands', {
    connectionString: url,
    application_name: 'gatehouse audit verify',
  });
  await client.connect();
  try {
    const seal = new AuditSeal(new Secret(sealKey));
    const onProgress = (records: number): void => report({ records });
    report({ report: await verifyChain({ client, seal, organizationId, snapshot, onProgress }, part) });
  } finally {
    await client.end();
  }
}

await main(workerData as PartJob);
