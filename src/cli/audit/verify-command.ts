import type { Client } from 'pg';
import { auditSealKey, KNOWN_SEAL_KEY, type KnownSealKey } from '../../admin/audit/audit-seal-key.js';
import type { ChainProblem, ChainReport } from '../../admin/audit/verify-chain.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import type { Secret } from '../../common/settings/secret.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { loadSettings } from '../../common/settings/settings.js';
import { masterKeysOf, resolveSecrets } from '../data-folder.js';
import { withRunningDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';
import { say } from '../terminal.js';
import { type ChainAccess, verifyInParts } from './verify-in-parts.js';

export interface VerifyOptions {
  /** Its id; all of them when it is left out. */
  readonly organization?: string;
}

const PROBLEMS: Readonly<Record<ChainProblem, string>> = {
  missing: 'is missing, or another record is in its place',
  changed: 'was changed after it was written',
  forged: 'was not written with the key of this installation',
  cut: 'and all later records were removed',
};

const PROGRESS_EVERY_MS = 2_000;

/** `gatehouse audit verify`. Returns the exit code: 1 when any record is not what was recorded. */
export async function verifyCommand(
  environment: NodeJS.ProcessEnv,
  { organization }: VerifyOptions,
): Promise<number> {
  const settings = loadSettings(environment);
  if (organization !== undefined && !isUuid(organization))
    throw new LauncherError('--organization takes the id of an organization, which is a UUID.');
  return withRunningDatabase(settings, async (url) => {
    const masterKeys = masterKeysOf(await resolveSecrets(settings));
    return withClient(url, async (client) => {
      const { rows } = await client.query<KnownSealKey>(KNOWN_SEAL_KEY);
      const sealKey = auditSealKey(rows[0], masterKeys);
      return verifyAll(client, { url, sealKey }, organization?.toLowerCase());
    });
  });
}

async function withClient<T>(url: Secret, work: (client: Client) => Promise<T>): Promise<T> {
  const client = postgresClient('commands', {
    connectionString: url.reveal(),
    application_name: 'gatehouse audit verify',
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function verifyAll(client: Client, access: ChainAccess, named: string | undefined): Promise<number> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM organizations WHERE $1::uuid IS NULL OR id = $1 ORDER BY id',
    [named ?? null],
  );
  if (rows.length === 0) throw new LauncherError('There is no such organization.');
  let broken = 0;
  for (const { id } of rows) {
    const startedAt = performance.now();
    const report = await verifyInParts(client, access, {
      organizationId: id,
      onProgress: progressOf(id),
    });
    say(verdict(id, report, performance.now() - startedAt));
    if (report.problem !== null) broken += 1;
  }
  return broken === 0 ? 0 : 1;
}

function progressOf(id: string): (records: number) => void {
  let nextAt = performance.now() + PROGRESS_EVERY_MS;
  return (records) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + PROGRESS_EVERY_MS;
    say(`Organization ${id}: ${records} records verified so far.`);
  };
}

function verdict(id: string, { records, brokenAt, problem }: ChainReport, ms: number): string {
  if (problem !== null)
    return `Organization ${id}: BROKEN. Record ${brokenAt ?? ''} ${PROBLEMS[problem]}. The ${records} records before it are intact.`;
  const perSecond = ms > 0 ? Math.round((records / ms) * 1000) : records;
  return `Organization ${id}: all ${records} records are intact (${perSecond} per second).`;
}
