import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import {
  anchorsIn,
  type ChainAnchor,
  ChainAnchors,
  checkedAgainst,
  latestOf,
  type AnchorQuery,
} from '../../admin/audit/chain-anchors.js';
import { auditSealKey, KNOWN_SEAL_KEY, type KnownSealKey } from '../../admin/audit/audit-seal-key.js';
import type { ChainProblem, ChainReport } from '../../admin/audit/verify-chain.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import type { Secret } from '../../common/settings/secret.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { loadSettings } from '../../common/settings/settings.js';
import { masterKeysOf, resolveSecrets } from '../data-folder.js';
import { withRunningDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { type ChainAccess, verifyInParts } from './verify-in-parts.js';

export interface VerifyOptions extends JsonOption {
  /** Id of the organization; default: all of them. */
  readonly organization?: string;
  /** A file with anchors from elsewhere. */
  readonly anchor?: string;
}

type Anchors = ReadonlyMap<string, ChainAnchor>;
type AuditReportRow = Readonly<Record<string, unknown>>;

interface AnchoredAccess extends ChainAccess {
  readonly anchors: Anchors;
  readonly notice: (text: string) => void;
}

const PROBLEMS: Readonly<Record<ChainProblem, string>> = {
  missing: 'is missing, or another record is in its place',
  changed: 'was changed after it was written',
  forged: 'was not written with the key of this installation',
  cut: 'and all later records were removed',
  set_back: 'differs from an anchor: the log was set back to an earlier state, or records were removed',
};

const PROGRESS_EVERY_MS = 2_000;

/** The result for one organization, as `--json` prints it. */
export interface OrganizationChain {
  readonly organization_id: string;
  readonly is_intact: boolean;
  /** Intact records, from the first one on. */
  readonly records: number;
  /** Number of the first wrong record. */
  readonly broken_at: string | null;
  /** Null for an intact chain; `organization_missing` when only an anchor names the organization. */
  readonly problem: ChainProblem | 'organization_missing' | null;
  /** Number of the record with which the chain was compared; null without an anchor. */
  readonly anchor: string | null;
}

/** `gatehouse audit verify`. Returns the exit code: 1 if any record was altered. */
export async function verifyCommand(environment: NodeJS.ProcessEnv, options: VerifyOptions): Promise<number> {
  const { organization, anchor } = options;
  const settings = loadSettings(environment);
  if (organization !== undefined && !isUuid(organization))
    throw new LauncherError('--organization takes the id of an organization, which is a UUID.');
  const anchors = await anchorsOf(settings.dataDir, anchor);
  const output = new CommandOutput(options);
  const chains = await withRunningDatabase(settings, async (url) => {
    const masterKeys = masterKeysOf(await resolveSecrets(settings));
    return verifyChains(url, { masterKeys, anchors, named: organization?.toLowerCase(), notice: output.say });
  });
  const isIntact = chains.every(({ is_intact }) => is_intact);
  output.result({ is_intact: isIntact, organizations: chains });
  return isIntact ? 0 : 1;
}

/** What the chains are checked with. `named`: only this organization. */
export interface ChainsToVerify {
  readonly masterKeys: readonly Secret[];
  readonly anchors: Anchors;
  readonly named?: string | undefined;
  readonly notice: (text: string) => void;
}

/** Checks the chain of every organization in a database. */
export async function verifyChains(
  url: Secret,
  { masterKeys, anchors, named, notice }: ChainsToVerify,
): Promise<OrganizationChain[]> {
  const client = postgresClient('commands', {
    connectionString: url.reveal(),
    application_name: 'gatehouse audit verify',
  });
  await client.connect();
  try {
    const { rows } = await client.query<KnownSealKey>(KNOWN_SEAL_KEY);
    const sealKey = auditSealKey(rows[0], masterKeys);
    return await verifyAll(client, { url, sealKey, anchors, notice }, named);
  } finally {
    await client.end();
  }
}

async function verifyAll(
  client: Client,
  access: AnchoredAccess,
  named: string | undefined,
): Promise<OrganizationChain[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM organizations WHERE $1::uuid IS NULL OR id = $1 ORDER BY id',
    [named ?? null],
  );
  if (rows.length === 0) throw new LauncherError('There is no such organization.');
  const rowsOf: AnchorQuery = async (sql, parameters) =>
    (await client.query<AuditReportRow>(sql, [...parameters])).rows;
  const chains = missingOf(
    access,
    rows.map(({ id }) => id),
    named,
  );
  for (const { id } of rows) {
    const startedAt = performance.now();
    const onProgress = progressOf(id, access.notice);
    const chain = await verifyInParts(client, access, { organizationId: id, onProgress });
    const anchor = access.anchors.get(id);
    const report = await checkedAgainst(rowsOf, anchor, chain);
    access.notice(verdict(id, report, performance.now() - startedAt));
    access.notice(anchorLine(id, anchor));
    chains.push(chainOf(id, report, anchor));
  }
  return chains;
}

const chainOf = (
  organization_id: string,
  { records, brokenAt, problem }: ChainReport,
  anchor: ChainAnchor | undefined,
): OrganizationChain => ({
  organization_id,
  is_intact: problem === null,
  records,
  broken_at: brokenAt,
  problem,
  anchor: anchor?.seq ?? null,
});

/** Organizations of anchors that the database no longer has. */
function missingOf(
  { anchors, notice }: AnchoredAccess,
  present: readonly string[],
  named: string | undefined,
): OrganizationChain[] {
  const missing = [...anchors.values()].filter(
    ({ organizationId: id }) => (named ?? id) === id && !present.includes(id),
  );
  return missing.map(({ organizationId: id, seq }) => {
    notice(`Organization ${id}: BROKEN. An anchor names it, and this database does not have it.`);
    return {
      organization_id: id,
      is_intact: false,
      records: 0,
      broken_at: null,
      problem: 'organization_missing',
      anchor: seq,
    };
  });
}

const anchorLine = (id: string, anchor: ChainAnchor | undefined): string =>
  anchor
    ? `Organization ${id}: compared with the anchor at record ${anchor.seq}.`
    : `Organization ${id}: no anchor here. A log that was set back to an earlier state cannot be noticed.`;

/** Those of this machine and of the file. The later one of an organization counts. */
async function anchorsOf(dataDir: string, file: string | undefined): Promise<Anchors> {
  const kept = await new ChainAnchors(dataDir).read();
  if (file === undefined) return kept;
  const anchors = anchorsIn(await readText(file));
  if (anchors.length === 0) throw new LauncherError(`The file ${file} of --anchor has no anchor.`);
  return latestOf([...kept.values(), ...anchors]);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new LauncherError(`The file ${file} of --anchor cannot be read.`, { cause });
  }
}

function progressOf(id: string, notice: (text: string) => void): (records: number) => void {
  let nextAt = performance.now() + PROGRESS_EVERY_MS;
  return (records) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + PROGRESS_EVERY_MS;
    notice(`Organization ${id}: ${records} records verified so far.`);
  };
}

function verdict(id: string, { records, brokenAt, problem }: ChainReport, ms: number): string {
  if (problem !== null)
    return `Organization ${id}: BROKEN. Record ${brokenAt ?? ''} ${PROBLEMS[problem]}. The ${records} records before it are intact.`;
  const perSecond = ms > 0 ? Math.round((records / ms) * 1000) : records;
  return `Organization ${id}: all ${records} records are intact (${perSecond} per second).`;
}
