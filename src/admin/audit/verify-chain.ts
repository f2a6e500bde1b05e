import { type Client, escapeLiteral } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { type AuditSeal, BEFORE_THE_FIRST, chainHash } from './audit-seal.js';
import {
  AS_WRITTEN,
  type ChainPart,
  CopiedLines,
  copyOfChain,
  type StoredLink,
  storedLink,
} from './chain-rows.js';

/** The result of checking a chain. */
export interface ChainReport {
  readonly records: number;
  /** Number of the first wrong record; null when all are valid. */
  readonly brokenAt: string | null;
  readonly problem: ChainProblem | null;
}

/**
 * `missing`: another number is there, or none; `changed`: its content differs from the hash; `forged`: the chain was recomputed without the
 * key; `cut`: the chain ends before the signed end, or has lost it; `set_back`: it lacks the record of an anchor (chain-anchors.ts).
 */
export type ChainProblem = 'missing' | 'changed' | 'forged' | 'cut' | 'set_back';

const HEAD = 'SELECT seq, hash, seal FROM audit_heads WHERE organization_id = $1';

/** How often `onProgress` is called, in records. */
const PROGRESS_EVERY = 5_000;

interface VerifiedChainHead {
  readonly seq: string;
  readonly hash: Buffer;
  readonly seal: Buffer | null;
}

export const WHOLE: ChainPart = { after: 0, upTo: null };

/** The inputs of a check. */
export interface ChainReading {
  /** Outside any transaction. */
  readonly client: Client;
  readonly seal: AuditSeal;
  readonly organizationId: string;
  /** Name of an exported snapshot: several readers see the chain at the same moment. */
  readonly snapshot?: string;
  /** Called periodically with the number of verified records. */
  readonly onProgress?: (records: number) => void;
}

/**
 * Reads the current chain of an organization and recomputes it. Each record is checked against the one stored before it, so parts can be
 * checked separately: a chain is valid if each part is.
 *
 * The rows arrive as one COPY, which the database keeps sending during the check.
 */
export async function verifyChain(reading: ChainReading, part: ChainPart = WHOLE): Promise<ChainReport> {
  const { client, seal, organizationId, snapshot, onProgress = () => undefined } = reading;
  if (!isUuid(organizationId))
    throw new TypeError('--organization takes the id of an organization, which is a UUID.');
  const check = new ChainCheck(seal, organizationId, part);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    if (snapshot !== undefined) await client.query(`SET TRANSACTION SNAPSHOT ${escapeLiteral(snapshot)}`);
    await client.query(AS_WRITTEN);
    const { rows } = await client.query<VerifiedChainHead>(HEAD, [organizationId]);
    const lines = new CopiedLines();
    const copy = client.query(copyTo(copyOfChain(organizationId, part), { highWaterMark: READ_AHEAD_BYTES }));
    for await (const piece of copy as AsyncIterable<Buffer>)
      check.acceptAll(check.isBroken ? [] : lines.in(piece), onProgress);
    if (!check.isBroken) check.endsAt(rows[0]);
    return check.report();
  } finally {
    await client.query('COMMIT');
  }
}

const READ_AHEAD_BYTES = 1024 * 1024;

class ChainCheck {
  /** Number of the last valid record, or of the one before the part. */
  private records: number;
  /** Unknown until the record before the part has been read. */
  private hash: Buffer | null;
  private problem: ChainProblem | null = null;

  constructor(
    private readonly seal: AuditSeal,
    private readonly organizationId: string,
    private readonly part: ChainPart,
  ) {
    this.records = part.after;
    this.hash = part.after === 0 ? BEFORE_THE_FIRST : null;
  }

  get isBroken(): boolean {
    return this.problem !== null;
  }

  /** Continues until a record is wrong. */
  acceptAll(lines: readonly string[], onProgress: (records: number) => void): void {
    for (const line of lines) {
      this.problem = this.judge(storedLink(this.organizationId, line));
      if (this.isBroken) return;
      if (this.records % PROGRESS_EVERY === 0) onProgress(this.records - this.part.after);
    }
  }

  report(): ChainReport {
    return {
      records: this.records,
      brokenAt: this.problem === null ? null : String(this.records + 1),
      problem: this.problem,
    };
  }

  /** A truncated chain is valid in itself; the sealed head stores its length. */
  endsAt(head: VerifiedChainHead | undefined): void {
    const { upTo } = this.part;
    if (upTo !== null) {
      this.problem = this.records === upTo ? null : 'missing';
      return;
    }
    if (!head) {
      this.problem = 'cut';
      return;
    }
    const { seq, hash, seal } = head;
    if (seq !== String(this.records) || !this.hash?.equals(hash)) this.problem = 'cut';
    else if (this.records > 0 && !this.seal.isOfEnd({ organizationId: this.organizationId, seq, hash }, seal))
      this.problem = 'forged';
  }

  private judge({ record, hash: stored, seal }: StoredLink): ChainProblem | null {
    const { seq } = record;
    if (this.hash === null) return this.begin(seq, stored);
    if (seq !== String(this.records + 1)) return 'missing';
    const hash = chainHash(this.hash, record);
    if (!stored || !hash.equals(stored)) return 'changed';
    if (!this.seal.isOfRecord({ organizationId: this.organizationId, seq, hash }, seal)) return 'forged';
    this.hash = hash;
    this.records += 1;
    return null;
  }

  /** The record before the part is checked with the previous part. */
  private begin(seq: string, stored: Buffer | null): ChainProblem | null {
    if (seq !== String(this.part.after)) return 'missing';
    this.hash = stored ?? BEFORE_THE_FIRST;
    return null;
  }
}
