import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../../common/files/write-atomically.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import type { ChainReport } from './verify-chain.js';

/**
 * The end of an organization's chain at some moment, kept outside the database. Whoever can write every table can set a chain back to an
 * earlier state, whose seals are valid; the anchor shows that it was longer.
 */
export interface ChainAnchor {
  readonly organizationId: string;
  readonly seq: string;
  /** Of the record with that number. */
  readonly hash: Buffer;
}

/** Anything that runs a statement and returns its rows. */
export type AnchorQuery = (
  sql: string,
  parameters: readonly unknown[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const FILE = 'audit-anchors.jsonl';

/** The anchors of this machine, in its data folder: a line of JSON for each organization. */
export class ChainAnchors {
  readonly path: string;

  constructor(dataDir: string) {
    this.path = join(dataDir, FILE);
  }

  /** None where the file does not exist yet. */
  async read(): Promise<ReadonlyMap<string, ChainAnchor>> {
    try {
      return latestOf(anchorsIn(await readFile(this.path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      throw error;
    }
  }

  async write(anchors: Iterable<ChainAnchor>): Promise<void> {
    await writeAtomically(
      this.path,
      [...anchors].map((anchor) => `${JSON.stringify(lineOf(anchor))}\n`).join(''),
    );
  }
}

/** The fields of an anchor in the file and in the log. */
export const lineOf = ({ organizationId, seq, hash }: ChainAnchor) => ({
  organization_id: organizationId,
  seq,
  hash: hash.toString('hex'),
});

/** The anchor with the highest number of each organization. */
export function latestOf(anchors: Iterable<ChainAnchor>): ReadonlyMap<string, ChainAnchor> {
  const latest = new Map<string, ChainAnchor>();
  for (const anchor of anchors) {
    const known = latest.get(anchor.organizationId);
    if (!known || BigInt(anchor.seq) > BigInt(known.seq)) latest.set(anchor.organizationId, anchor);
  }
  return latest;
}

/** The anchors in lines of the anchor file, of the service's log, or of forwarded records. Other lines are skipped. */
export function anchorsIn(text: string): ChainAnchor[] {
  return text.split('\n').flatMap((line) => anchorIn(line) ?? []);
}

const SEQ = /^\d{1,18}$/;
const HASH = /^[0-9a-f]{64}$/;

function anchorIn(line: string): ChainAnchor | null {
  const parsed = objectIn(line);
  const record = (parsed['record'] ?? {}) as Readonly<Record<string, unknown>>;
  const organizationId = textOf(parsed['organization_id'] ?? record['organizationId']);
  const seq = textOf(parsed['seq'] ?? record['seq']);
  const hash = textOf(parsed['hash']);
  if (!isUuid(organizationId) || !SEQ.test(seq) || !HASH.test(hash)) return null;
  return { organizationId, seq, hash: Buffer.from(hash, 'hex') };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function objectIn(line: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const AT_ANCHOR = `
  SELECT (SELECT hash FROM audit_records WHERE organization_id = $1 AND seq = $2) AS hash,
    (SELECT max(seq) FROM audit_records WHERE organization_id = $1) AS last`;

/**
 * The report with what an anchor shows besides: the record that it names is missing, or another one is in its place. A problem that was
 * found before is kept.
 */
export async function checkedAgainst(
  rowsOf: AnchorQuery,
  anchor: ChainAnchor | undefined,
  report: ChainReport,
): Promise<ChainReport> {
  if (!anchor || report.problem !== null) return report;
  const { organizationId, seq, hash } = anchor;
  const [row] = await rowsOf(AT_ANCHOR, [organizationId, seq]);
  const found = row?.['hash'];
  if (Buffer.isBuffer(found) && hash.equals(found)) return report;
  const last = BigInt((row?.['last'] as string | null | undefined) ?? 0);
  const first = found || last >= BigInt(seq) ? seq : String(last + 1n);
  return { records: Number(first) - 1, brokenAt: first, problem: 'set_back' };
}
