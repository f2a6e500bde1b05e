import { StringDecoder } from 'node:string_decoder';
import { inOrder, type WrittenRecord } from './canonical-record.js';

/** A record as stored, with its hash and seal. */
export interface StoredLink {
  readonly record: WrittenRecord;
  readonly hash: Buffer | null;
  readonly seal: Buffer | null;
}

const COLUMNS =
  'seq, hash, seal, action, actor_id, actor_kind, actor_name, after, at, before, error_code, id, ip, method, ' +
  'outcome, path, query_params, request, request_headers, request_id, status, target_id, target_type, user_id, workspace_id';

/** The output format while rows are copied: the session's own setting may differ. */
export const AS_WRITTEN =
  "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL bytea_output = 'hex'";

/** The records after number `after`, up to and including number `upTo`; null means the end of the chain, wherever it is. */
export interface ChainPart {
  readonly after: number;
  readonly upTo: number | null;
}

/**
 * Copies a part of an organization's chain in order, preceded by the record before the part. As text: the database writes each column once
 * and builds no documents. `organizationId` must be a UUID.
 */
export function copyOfChain(organizationId: string, { after, upTo }: ChainPart): string {
  const from = after === 0 ? '' : `AND seq >= ${after}`;
  const to = upTo === null ? '' : `AND seq <= ${upTo}`;
  return `COPY (SELECT ${COLUMNS} FROM audit_records WHERE organization_id = '${organizationId}' ${from} ${to} ORDER BY seq) TO STDOUT`;
}

/** Splits copied data into lines, wherever its chunks end. */
export class CopiedLines {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  /** The lines that end in this chunk. */
  in(piece: Buffer): string[] {
    const lines = (this.rest + this.decoder.write(piece)).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}

/** One line of `copyOfChain`. */
export function storedLink(organizationId: string, line: string): StoredLink {
  const [seq, hash, seal, ...fields] = line.split('\t');
  const [action, actorId, actorKind, actorName, after, at, before, errorCode, id, ip, method, ...rest] =
    fields;
  const [outcome, path, query, request, headers, requestId, status, ...target] = rest;
  const [targetId, targetType, userId, workspaceId] = target;
  const record = {
    organizationId,
    seq: textOf(seq),
    action: textOf(action),
    actorId: textOrNull(actorId),
    actorKind: textOf(actorKind),
    actorName: textOf(actorName),
    after: documentOf(after),
    at: momentOf(textOf(at)),
    before: documentOf(before),
    errorCode: textOrNull(errorCode),
    id: textOf(id),
    ip: textOf(ip),
    method: textOf(method),
    outcome: textOf(outcome),
    path: textOf(path),
    queryParams: documentOf(query),
    request: documentOf(request),
    requestHeaders: documentOf(headers),
    requestId: textOf(requestId),
    status: Number(status),
    targetId: textOrNull(targetId),
    targetType: textOf(targetType),
    userId: textOrNull(userId),
    workspaceId: textOrNull(workspaceId),
  };
  return { record, hash: bytesOf(hash), seal: bytesOf(seal) };
}

const NULL = '\\N';
const ESCAPED = /\\(.)/g;
/** https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS */
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function textOrNull(column: string | undefined): string | null {
  if (column === undefined || column === NULL) return null;
  if (!column.includes('\\')) return column;
  return column.replace(ESCAPED, (_, sign: string) => ESCAPES[sign] ?? sign);
}

const textOf = (column: string | undefined): string => textOrNull(column) ?? '';

function documentOf(column: string | undefined): string {
  const text = textOrNull(column);
  return text === null ? 'null' : inOrder(JSON.parse(text));
}

/** `2030-01-31 12:00:00.5+00` as ISO 8601, to the millisecond; finer digits stay, because no record has them. */
function momentOf(text: string): string {
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = text.slice(20, -3);
  return `${seconds}.${fraction.padEnd(3, '0')}Z`;
}

/** `\x…` with its backslash escaped. */
function bytesOf(column: string | undefined): Buffer | null {
  return column === undefined || column === NULL ? null : Buffer.from(column.slice(3), 'hex');
}
