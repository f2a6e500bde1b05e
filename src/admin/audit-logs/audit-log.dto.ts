import { ApiProperty } from '@nestjs/swagger';
import type { AuditRecord } from '../audit/audit-record.entity.js';
import { AN_ID, ApiId } from '../dto-fields/fields.js';
import { RECORDED_METHODS } from '../audit/audit-record.entity.js';

const textOrNull = (example?: string): PropertyDecorator =>
  ApiProperty({ type: String, nullable: true, ...(example === undefined ? {} : { example }) });
const document = (): PropertyDecorator =>
  ApiProperty({ type: Object, additionalProperties: true, nullable: true, example: { name: 'checkout' } });

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** One record. The first half has the names of the compatible API; `country` is always null. The second half is our own. */
export class AuditLogDto {
  @ApiProperty({ format: 'date-time', example: '2030-01-31T12:00:00.000Z' }) readonly timestamp: string;
  @ApiProperty({ enum: RECORDED_METHODS }) readonly method: string;
  @ApiProperty({ example: '/v1/virtual-keys' }) readonly uri: string;
  @ApiId() readonly request_id: string;
  @textOrNull('{"name":"checkout","key":"***"}') readonly request_body: string | null;
  /** JSON; values of parameters that may be secrets are masked. Null without parameters. */
  @textOrNull('{"name":"research"}') readonly query_params: string | null;
  /** JSON of the headers that are recorded. Null in records of earlier versions. */
  @textOrNull('{"user-agent":"curl/8.5.0"}') readonly request_headers: string | null;

  /** The user or API key that acted; null for a signed token without a user. */
  @textOrNull(AN_ID) readonly user_id: string | null;
  @ApiProperty({ enum: ['user', 'api_key'] }) readonly user_type: 'user' | 'api_key';
  @ApiId() readonly organisation_id: string;
  @textOrNull(AN_ID) readonly workspace_id: string | null;
  @ApiProperty({ example: 200 }) readonly response_status_code: number;
  @ApiProperty({ example: 'virtual_keys' }) readonly resource_type: string;
  @ApiProperty({ example: 'create' }) readonly action: string;
  @ApiProperty({ example: '203.0.113.7' }) readonly client_ip: string;
  @textOrNull() readonly country: string | null;

  @ApiId() readonly id: string;

  /** Position in the organization's chain, from 1. */
  @ApiProperty({ example: '4711' }) readonly seq: string;
  @ApiProperty({ example: 'admin_key' }) readonly actor_kind: string;
  @ApiProperty({ example: 'First admin key' }) readonly actor_name: string;
  @textOrNull(AN_ID) readonly target_id: string | null;
  @document() readonly before: unknown;
  @document() readonly after: unknown;
  @ApiProperty({ enum: ['success', 'refused', 'failed'] }) readonly outcome: string;
  @textOrNull('forbidden') readonly error_code: string | null;

  /** SHA-256 over the previous hash and this record, hexadecimal. */
  @ApiProperty({ example: 'a3f1…' }) readonly hash: string;

  static from(record: AuditRecord): AuditLogDto {
    return {
      timestamp: record.at.toISOString(),
      method: record.method,
      uri: record.path,
      request_id: record.requestId,
      request_body: jsonOrNull(record.request),
      query_params: jsonOrNull(record.queryParams),
      request_headers: jsonOrNull(record.requestHeaders),
      user_id: record.actorId,
      user_type: record.actorKind === 'person' ? 'user' : 'api_key',
      organisation_id: record.organizationId,
      workspace_id: record.workspaceId,
      response_status_code: record.status,
      resource_type: record.targetType,
      action: record.action.slice(record.targetType.length + 1) || record.action,
      client_ip: record.ip,
      country: null,
      id: record.id,
      seq: record.seq,
      actor_kind: record.actorKind,
      actor_name: record.actorName,
      target_id: record.targetId,
      before: record.before,
      after: record.after,
      outcome: record.outcome,
      error_code: record.errorCode,
      hash: record.hash.toString('hex'),
    };
  }
}

/** The compatible API names this list after another resource. */
export class AuditLogListDto {
  @ApiProperty({ enum: ['analytics-graph'] }) readonly object = 'analytics-graph';

  /** All matching records, counted up to 100,000. */
  @ApiProperty({ example: 1 }) readonly total: number;
  @ApiProperty({ type: [AuditLogDto] }) readonly records: readonly AuditLogDto[];

  static from(records: readonly AuditRecord[], total: number): AuditLogListDto {
    return { object: 'analytics-graph', total, records: records.map((record) => AuditLogDto.from(record)) };
  }
}
