import { ApiProperty } from '@nestjs/swagger';
import type { AuditRecord } from '../audit/audit-record.entity.js';
import { AN_ID, ApiId, ApiMoment, ApiObject } from '../dto-fields/fields.js';
import { RECORDED_METHODS } from '../audit/audit-record.entity.js';

const textOrNull = (description: string, example?: string): PropertyDecorator =>
  ApiProperty({ description, type: String, nullable: true, ...(example === undefined ? {} : { example }) });
const document = (description: string): PropertyDecorator =>
  ApiProperty({
    description,
    type: Object,
    additionalProperties: true,
    nullable: true,
    example: { name: 'checkout' },
  });

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** One record. The first half has the names of the compatible API; `country` is always null. The second half is our own. */
export class AuditLogDto {
  @ApiMoment('Time, ISO 8601 in UTC.') readonly timestamp: string;
  @ApiProperty({ description: 'HTTP method of the request.', enum: RECORDED_METHODS })
  readonly method: string;
  @ApiProperty({ description: 'Path of the request.', example: '/v1/virtual-keys' }) readonly uri: string;
  @ApiId('Id of the request. Support and the request log find it by this id.') readonly request_id: string;
  @textOrNull(
    'Body of the request, with secrets masked. Null if there was none.',
    '{"name":"checkout","key":"***"}',
  )
  readonly request_body: string | null;
  @textOrNull('Query of the request. Null if there was none.', '{"name":"research"}') readonly query_params:
    string | null;
  @textOrNull(
    'Headers of the request, with secrets masked. Null if they were not kept.',
    '{"user-agent":"curl/8.5.0"}',
  )
  readonly request_headers: string | null;

  @textOrNull('Id of the user or API key behind the change. Null if there was none.', AN_ID)
  readonly user_id: string | null;
  @ApiProperty({ description: 'Whether a user or an API key made the change.', enum: ['user', 'api_key'] })
  readonly user_type: 'user' | 'api_key';
  @ApiId('Id of the organization.') readonly organisation_id: string;
  @textOrNull('Id of the workspace. Null if the change concerns the organization.', AN_ID)
  readonly workspace_id: string | null;
  @ApiProperty({ description: 'HTTP status of the response.', example: 200 })
  readonly response_status_code: number;
  @ApiProperty({ description: 'Kind of the changed resource.', example: 'virtual_keys' })
  readonly resource_type: string;
  @ApiProperty({ description: 'What was done, such as `create`.', example: 'create' })
  readonly action: string;
  @ApiProperty({ description: 'IP address of the client.', example: '203.0.113.7' })
  readonly client_ip: string;
  @textOrNull('Country of the client. Null if unknown.') readonly country: string | null;

  @ApiId('Id of the record.') readonly id: string;

  @ApiProperty({
    description: 'Number of the record in the hash chain of the organization, counted from 1.',
    example: '4711',
  })
  readonly seq: string;
  @ApiProperty({ description: 'Kind of credential behind the change.', example: 'admin_key' })
  readonly actor_kind: string;
  @ApiProperty({ description: 'Name of the user or API key behind the change.', example: 'First admin key' })
  readonly actor_name: string;
  @textOrNull('Id of the changed resource. Null if there is none.', AN_ID) readonly target_id: string | null;
  @document('The resource before the change, with secrets masked. Null if it is new.')
  readonly before: unknown;
  @document('The resource after the change, with secrets masked. Null if it was deleted.')
  readonly after: unknown;
  @ApiProperty({
    description: 'Whether the change succeeded, was refused, or failed.',
    enum: ['success', 'refused', 'failed'],
  })
  readonly outcome: string;
  @textOrNull('Code of the error. Null if there was none.', 'forbidden') readonly error_code: string | null;

  @ApiProperty({ description: 'Hash of the record and of the one before it.', example: 'a3f1…' })
  readonly hash: string;

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
  @ApiObject('analytics-graph') readonly object = 'analytics-graph';

  @ApiProperty({
    description: 'Number of matching records on all pages. A filtered list is counted up to 100,000.',
    example: 1,
  })
  readonly total: number;
  @ApiProperty({ description: 'Records of this page, newest first.', type: [AuditLogDto] })
  readonly records: readonly AuditLogDto[];

  static from(records: readonly AuditRecord[], total: number): AuditLogListDto {
    return { object: 'analytics-graph', total, records: records.map((record) => AuditLogDto.from(record)) };
  }
}
