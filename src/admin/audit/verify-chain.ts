import type { QueryArrayConfig } from 'pg';
import { type AuditSeal, BEFORE_THE_FIRST, chainHash } from './audit-seal.js';
import { inOrder, type WrittenRecord } from './canonical-record.js';

/** What a check of a chain found. */
export interface ChainReport {
  readonly records: number;
  /** Number of the first record that is not what was written there; null when all is well. */
  readonly brokenAt: string | null;
  readonly problem: ChainProblem | null;
}

/**
 * `missing`: another number stands there, or none; `changed`: it says something else than what was chained; `forged`:
 * the chain was computed anew by somebody without the key; `cut`: the chain ends here and its end is another.
 */
export type ChainProblem = 'missing' | 'changed' | 'forged' | 'cut';

/** A connection of `pg`, in no transaction. */
export interface ChainReader {
  query(config: QueryArrayConfig): Promise<{ readonly rows: readonly (readonly string[])[] }>;
  query(sql: string): Promise<unknown>;
}

const BATCH = 5_000;

/** Each row comes as one JSON array: reading 22 columns of their own would take most of the time. */
const AS_TEXT = { getTypeParser: () => (text: unknown) => text } as unknown as NonNullable<
  QueryArrayConfig['types']
>;

const RECORDS = `
  SELECT json_build_array(seq::text, encode(hash, 'hex'), encode(seal, 'hex'), action, actor_id, actor_kind, actor_name,
    after, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), before, error_code, id, ip, method, outcome,
    path, request, request_id, status, target_id, target_type, user_id, workspace_id)
  FROM audit_records WHERE organization_id = $1 AND seq > $2 ORDER BY seq LIMIT ${BATCH}`;

const HEAD = `
  SELECT json_build_array(seq::text, encode(hash, 'hex'), encode(seal, 'hex')) FROM audit_heads WHERE organization_id = $1`;

/** In the order of the columns. The first three are the number, the hash and the seal. */
type Row = readonly [string, string | null, string | null, ...unknown[]];

/**
 * Reads the whole chain of an organization, as it is at this moment, and computes it anew. `onProgress` hears how many
 * records were right so far.
 */
export async function verifyChain(
  reader: ChainReader,
  seal: AuditSeal,
  organizationId: string,
  onProgress: (records: number) => void = () => undefined,
): Promise<ChainReport> {
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    return await verify(reader, new ChainCheck(seal, organizationId), organizationId, onProgress);
  } finally {
    await reader.query('COMMIT');
  }
}

async function verify(
  reader: ChainReader,
  check: ChainCheck,
  organizationId: string,
  onProgress: (records: number) => void,
): Promise<ChainReport> {
  const [head] = await read(reader, HEAD, [organizationId]);
  let batch = await read(reader, RECORDS, [organizationId, '0']);
  while (batch.length > 0) {
    const last = batch.at(-1)?.[0] ?? '0';
    // The database sorts the next records while these are checked.
    const next = batch.length < BATCH ? Promise.resolve([]) : read(reader, RECORDS, [organizationId, last]);
    next.catch(() => undefined);
    for (const row of batch) if (!check.accepts(row)) return check.report();
    onProgress(check.records);
    batch = await next;
  }
  check.endsAt(head);
  return check.report();
}

async function read(reader: ChainReader, text: string, values: string[]): Promise<readonly Row[]> {
  const { rows } = await reader.query({ text, values, rowMode: 'array', types: AS_TEXT });
  return rows.map(([row]) => JSON.parse(row ?? '') as Row);
}

class ChainCheck {
  records = 0;
  private hash = BEFORE_THE_FIRST;
  private problem: ChainProblem | null = null;

  constructor(
    private readonly seal: AuditSeal,
    private readonly organizationId: string,
  ) {}

  accepts(row: Row): boolean {
    const [seq, hash, seal] = row;
    this.problem = this.judge(row, seq, hexBytes(hash), hexBytes(seal));
    return this.problem === null;
  }

  report(): ChainReport {
    return {
      records: this.records,
      brokenAt: this.problem === null ? null : String(this.records + 1),
      problem: this.problem,
    };
  }

  /** A chain whose end was cut off is right in itself; the sealed head remembers how long it was. */
  endsAt(head: Row | undefined): void {
    if (!head) {
      this.problem = this.records === 0 ? null : 'cut';
      return;
    }
    const [seq, hash, seal] = head;
    const end = { organizationId: this.organizationId, seq, hash: hexBytes(hash) ?? BEFORE_THE_FIRST };
    if (seq !== String(this.records) || !end.hash.equals(this.hash)) this.problem = 'cut';
    else if (this.records > 0 && !this.seal.isOfEnd(end, hexBytes(seal))) this.problem = 'forged';
  }

  private judge(row: Row, seq: string, stored: Buffer | null, seal: Buffer | null): ChainProblem | null {
    if (seq !== String(this.records + 1)) return 'missing';
    const hash = chainHash(this.hash, this.recordOf(row));
    if (!stored || !hash.equals(stored)) return 'changed';
    if (!this.seal.isOfRecord({ organizationId: this.organizationId, seq, hash }, seal)) return 'forged';
    this.hash = hash;
    this.records += 1;
    return null;
  }

  private recordOf([seq, , , ...said]: Row): WrittenRecord {
    const [action, actorId, actorKind, actorName, after, at, before, errorCode, id, ip, method, ...rest] =
      said;
    const [outcome, path, request, requestId, status, targetId, targetType, userId, workspaceId] = rest;
    return {
      organizationId: this.organizationId,
      seq,
      action: String(action),
      actorId: textOrNull(actorId),
      actorKind: String(actorKind),
      actorName: String(actorName),
      after: inOrder(after),
      at: String(at),
      before: inOrder(before),
      errorCode: textOrNull(errorCode),
      id: String(id),
      ip: String(ip),
      method: String(method),
      outcome: String(outcome),
      path: String(path),
      request: inOrder(request),
      requestId: String(requestId),
      status: Number(status),
      targetId: textOrNull(targetId),
      targetType: String(targetType),
      userId: textOrNull(userId),
      workspaceId: textOrNull(workspaceId),
    };
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function hexBytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'hex');
}
