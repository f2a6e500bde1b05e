import type { AuditRecord } from './audit-record.entity.js';

/** The content of a record, without hash and seal. */
export type ChainedRecord = Omit<AuditRecord, 'hash' | 'seal'>;

/** The same with the documents and the time as the hashed texts, which saves parsing them. */
export type WrittenRecord = Readonly<
  Record<Exclude<keyof ChainedRecord, NullableName | 'status'>, string> &
    Record<NullableName, string | null> & { status: number }
>;

type NullableName = 'workspaceId' | 'actorId' | 'userId' | 'targetId' | 'errorCode';

const text = JSON.stringify;
const textOrNull = (value: string | null): string => (value === null ? 'null' : text(value));

/**
 * A record as JSON with sorted names, the input of the hash. Written out name by name, because a verification does this for every record.
 */
export function canonicalRecord(record: WrittenRecord): string {
  return (
    `{"action":${text(record.action)},"actorId":${textOrNull(record.actorId)},"actorKind":${text(record.actorKind)},` +
    `"actorName":${text(record.actorName)},"after":${record.after},"at":${text(record.at)},` +
    `"before":${record.before},"errorCode":${textOrNull(record.errorCode)},"id":${text(record.id)},` +
    `"ip":${text(record.ip)},"method":${text(record.method)},"organizationId":${text(record.organizationId)},` +
    `"outcome":${text(record.outcome)},"path":${text(record.path)},${optional('queryParams', record)}"request":${record.request},` +
    `${optional('requestHeaders', record)}"requestId":${text(record.requestId)},"seq":${text(record.seq)},"status":${record.status},` +
    `"targetId":${textOrNull(record.targetId)},"targetType":${text(record.targetType)},` +
    `"userId":${textOrNull(record.userId)},"workspaceId":${textOrNull(record.workspaceId)}}`
  );
}

/** Records older than these columns do not have them, and their hash does not cover them. */
function optional(name: 'queryParams' | 'requestHeaders', record: WrittenRecord): string {
  return record[name] === 'null' ? '' : `"${name}":${record[name]},`;
}

/** A record in the form that is stored. */
export function written(record: ChainedRecord): WrittenRecord {
  return {
    ...record,
    at: record.at.toISOString(),
    queryParams: canonicalAuditJson(record.queryParams),
    requestHeaders: canonicalAuditJson(record.requestHeaders),
    request: canonicalAuditJson(record.request),
    before: canonicalAuditJson(record.before),
    after: canonicalAuditJson(record.after),
  };
}

/** JSON with the names of every object sorted: the database does not preserve their order. */
export function canonicalAuditJson(value: unknown): string {
  return inOrder(JSON.parse(JSON.stringify(value ?? null)));
}

/** The same for parsed JSON. */
export function inOrder(value: unknown): string {
  if (typeof value !== 'object' || value === null) return text(value);
  if (Array.isArray(value)) return `[${value.map(inOrder).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields).sort();
  return `{${names.map((name) => `${text(name)}:${inOrder(fields[name])}`).join(',')}}`;
}
