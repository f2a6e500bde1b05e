import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsObject } from 'class-validator';
import {
  EXPORT_COMPRESSIONS,
  EXPORT_FIELD_NAMES,
  EXPORT_FORMATS,
  EXPORT_STATUSES,
  type ExportCompression,
  type ExportFieldName,
  type ExportFormat,
  type ExportStatus,
} from '../../request-log/log-export.js';
import type { LogExport } from './log-export.entity.js';
import type { ListPage } from '../../common/http/page.js';
import { FILTER_DESCRIPTIONS } from '../../request-log/reading/filter-descriptions.js';
import { IfGiven, IsIdOrSlug } from '../../common/http/validators.js';
import {
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  MayTakeName,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText } from '../http/query-fields.js';
import { Audited } from '../dto-fields/audited.js';

const FIELDS = ['id', 'created_at', 'ai_model', 'total_units', 'cost'];

const objectOf = (name: string) => (/metadata$/.test(name) ? [{ type: 'object' }] : []);

/** The filters of request lists; values may also be numbers, and `metadata` an object. */
const FILTERS = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    [...Object.entries(FILTER_DESCRIPTIONS), ['workspace_slug', 'Slug of the workspace of the export.']].map(
      ([name, description]) => [
        name,
        {
          description,
          oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, ...objectOf(name)],
        },
      ],
    ),
  ),
  example: { time_of_generation_min: '2030-01-01T00:00:00Z', status_code: '200' },
} as const;

class WantedExportDto {
  @MayTakeWorkspace('Id or slug of the workspace of the export.')
  readonly workspace_id?: string;

  @Audited()
  @MayTakeName('January', 'Display name of the export.')
  readonly description?: string;

  @ApiPropertyOptional({
    description: 'Format of the file. Default: `jsonl`.',
    enum: EXPORT_FORMATS,
    default: 'jsonl',
  })
  @IfGiven()
  @IsIn(EXPORT_FORMATS)
  readonly format?: ExportFormat;

  @ApiPropertyOptional({
    description:
      'Compression of the file. Parquet is compressed already and takes `none` only. Default: `none`.',
    enum: EXPORT_COMPRESSIONS,
    default: 'none',
  })
  @IfGiven()
  @IsIn(EXPORT_COMPRESSIONS)
  readonly compression?: ExportCompression;
}

/** The columns, in this order. */
const AreFields = (): PropertyDecorator =>
  applyDecorators(
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(EXPORT_FIELD_NAMES.length),
    ArrayUnique(),
    IsIn(EXPORT_FIELD_NAMES, { each: true }),
  );
const FIELD_LIST = { isArray: true, type: String, enum: EXPORT_FIELD_NAMES, example: FIELDS } as const;

/** The parts of a signed link. */
export class LogExportLinkQuery extends QueryDto {
  @QueryText('Time at which a signed link ends, in seconds since 1970.')
  readonly expires?: string;

  @QueryText('Creator of a signed link: `key-` or `user-` and an id.')
  readonly by?: string;

  @QueryText('Signature of a signed link.')
  readonly signature?: string;
}

export class CreateLogExportDto extends WantedExportDto {
  @ApiProperty({
    ...FILTERS,
    description:
      'Which requests to export: the filters of the list of requests, by their names. Values are texts, numbers, booleans or objects.',
  })
  @IsObject()
  readonly filters: Readonly<Record<string, unknown>>;

  @ApiProperty({ ...FIELD_LIST, description: 'Fields to export, in this order.' })
  @AreFields()
  readonly requested_data: ExportFieldName[];
}

/** Omitted fields stay unchanged. */
export class UpdateLogExportDto extends WantedExportDto {
  /** The compatible SDK repeats the id here; the one in the path is used. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly export_id?: string;

  @ApiPropertyOptional({
    ...FILTERS,
    description:
      'Which requests to export: the filters of the list of requests, by their names. Values are texts, numbers, booleans or objects.',
  })
  @IfGiven()
  @IsObject()
  readonly filters?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({ ...FIELD_LIST, description: 'Fields to export, in this order.' })
  @IfGiven()
  @AreFields()
  readonly requested_data?: ExportFieldName[];
}

/** An export after it was created or changed, with the number of matching requests. */
export class LogExportAnswerDto {
  @ApiId('Id of the export.') readonly id: string;
  @ApiProperty({
    description: 'Number of requests that match now, at most 10,001. Null if counting would take too long.',
    type: 'integer',
    nullable: true,
    example: 812,
  })
  readonly total: number | null;
  @ApiObject('export') readonly object: 'export';

  static from(id: string, total: number | null): LogExportAnswerDto {
    return { object: 'export', id, total };
  }
}

/** Under the compatible API's name. */
export class ExportRestrictionsDto {
  @ApiObject('export-field-restrictions') readonly object: 'export-field-restrictions';
  @ApiProperty({
    description: 'Names of the fields that exports may not contain.',
    isArray: true,
    type: String,
    enum: EXPORT_FIELD_NAMES,
    example: ['request', 'response'],
  })
  readonly deniedFields: readonly string[];

  static from(deniedFields: readonly string[]): ExportRestrictionsDto {
    return { object: 'export-field-restrictions', deniedFields };
  }
}

export class LogExportDto {
  @ApiId() readonly id: string;
  @ApiId('Id of the organization.') readonly organisation_id: string;
  @ApiId('Id of the workspace.') readonly workspace_id: string;
  @ApiProperty({
    description:
      'Which requests to export: the filters of the list of requests, by their names. Values are texts, numbers, booleans or objects.',
    type: Object,
    additionalProperties: true,
    example: FILTERS.example,
  })
  readonly filters: Readonly<Record<string, unknown>>;
  @ApiProperty({
    description: 'Fields to export, in this order.',
    isArray: true,
    type: String,
    enum: EXPORT_FIELD_NAMES,
    example: FIELDS,
  })
  readonly requested_data: readonly string[];
  @ApiProperty({ description: 'Format of the file. Default: `jsonl`.', enum: EXPORT_FORMATS })
  readonly format: ExportFormat;
  @ApiProperty({
    description:
      'Compression of the file. Parquet is compressed already and takes `none` only. Default: `none`.',
    enum: EXPORT_COMPRESSIONS,
  })
  readonly compression: ExportCompression;
  @ApiProperty({
    description: 'State of the export. `failed` and `stopped` ones can be started again.',
    enum: EXPORT_STATUSES,
  })
  readonly status: ExportStatus;
  @ApiProperty({
    description: 'Why the export failed, or why its last attempt failed. Null if nothing is wrong.',
    type: String,
    nullable: true,
  })
  readonly problem: string | null;
  @ApiProperty({ description: 'Display name of the export.', example: 'January' })
  readonly description: string;
  @ApiProperty({ description: 'Number of requests in the file so far.', type: 'integer', example: 500 })
  readonly exported_rows: number;
  @ApiProperty({ description: 'Size of the file so far, in bytes.', type: 'integer', example: 65536 })
  readonly exported_bytes: number;
  @ApiProperty({
    description: 'Arrival time up to which the file is complete. Null before the first rows.',
    type: String,
    format: 'date-time',
    nullable: true,
  })
  readonly exported_until: string | null;
  @ApiCreatedAt() readonly created_at: string;
  @ApiLastUpdatedAt() readonly last_updated_at: string;
  @ApiProperty({
    description: 'Time at which the file is deleted. Null until the export ends.',
    type: String,
    format: 'date-time',
    nullable: true,
  })
  readonly expires_at: string | null;
  @ApiId('Id of the user or API key that created the resource.') readonly created_by: string;
  @ApiObject('export') readonly object: 'export';

  static from(row: LogExport): LogExportDto {
    return {
      object: 'export',
      id: row.id,
      organisation_id: row.organizationId,
      workspace_id: row.workspaceId,
      filters: row.filters,
      requested_data: row.requestedData,
      format: row.format,
      compression: row.compression,
      status: row.status,
      problem: row.problem,
      description: row.description,
      exported_rows: Number(row.rows),
      exported_bytes: Number(row.bytes),
      exported_until: row.cursorAt?.toISOString() ?? null,
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.updatedAt.toISOString(),
      expires_at: row.expiresAt?.toISOString() ?? null,
      // The table requires one of them.
      created_by: (row.apiKeyId ?? row.userId) as string,
    };
  }
}

export class LogExportListDto implements ListPage<LogExportDto> {
  @ApiObject('list') readonly object: 'list';
  @ApiProperty({ description: 'Number of matching items on all pages.', type: 'integer', example: 1 })
  readonly total: number;
  @ApiProperty({ description: 'The items of this page.', type: [LogExportDto] })
  readonly data: readonly LogExportDto[];

  static from(rows: readonly LogExport[], total: number): LogExportListDto {
    return { object: 'list', total, data: rows.map((row) => LogExportDto.from(row)) };
  }
}

export class LogExportTaskDto {
  @ApiProperty({ description: 'What was done, as text.', example: 'The export was started.' })
  readonly message: string;
  @ApiObject('export') readonly object: 'export';

  static from(message: string): LogExportTaskDto {
    return { object: 'export', message };
  }
}

export class LogExportLinkDto {
  @ApiProperty({
    description: 'Address of the file. It works for 15 minutes without an API key.',
    format: 'uri',
    example:
      'https://gatehouse.example.com/v1/logs/exports/01a0a1b2-0000-7000-8000-000000000000/file?expires=1795262400&by=key.01a0a1b2-0000-7000-8000-000000000001&signature=4f1c',
  })
  readonly signed_url: string;

  static from(signed_url: string): LogExportLinkDto {
    return { signed_url };
  }
}
