import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsArray, IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import type { LogView } from './log-view.entity.js';
import { IfGiven } from '../../common/http/validators.js';
import {
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  TakesName,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

const LONGEST_FILTER = 4_000;
const LONGEST_RANGE = 64;
const MOST_COLUMNS = 40;
const FILTER = 'status:min:400 model:not:gpt-5';

const AreColumns = (): PropertyDecorator =>
  applyDecorators(
    IsArray(),
    ArrayMaxSize(MOST_COLUMNS),
    ArrayUnique(),
    Matches(/^\w{1,40}$/, { each: true, message: 'each must be the key of a column' }),
  );

class LogViewFieldsDto {
  @Audited()
  @TakesName('Errors of checkout', 'Name of the view.')
  readonly name: string;

  @ApiPropertyOptional({
    description: 'Conditions in the syntax of the dashboard, such as `status:min:400`. Default: none.',
    maxLength: LONGEST_FILTER,
    default: '',
    example: FILTER,
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_FILTER)
  readonly filter?: string;

  @ApiPropertyOptional({
    description:
      'Time range: `15m`, `1h`, `24h`, `7d`, `30d`, or two times with `..` between them. Empty: the range that is open. Default: empty.',
    maxLength: LONGEST_RANGE,
    default: '',
    example: '24h',
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_RANGE)
  readonly range?: string;

  @ApiPropertyOptional({
    description: 'Columns in their order. Empty: the default columns. Default: empty.',
    type: [String],
    default: [],
    example: ['time', 'status', 'model'],
  })
  @IfGiven()
  @AreColumns()
  readonly columns?: string[];

  @ApiPropertyOptional({
    description: 'Whether every user who may list the logs of the workspace sees the view. Default: false.',
    default: false,
  })
  @IfGiven()
  @IsBoolean()
  readonly is_shared?: boolean;
}

export class CreateLogViewDto extends LogViewFieldsDto {
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

/** Omitted fields stay unchanged. */
export class UpdateLogViewDto extends PartialType(LogViewFieldsDto, { skipNullProperties: false }) {}

export class LogViewDto {
  @ApiId() readonly id: string;
  @ApiObject('log_view') readonly object: 'log_view';
  @ApiId('Id of the organization.') readonly organisation_id: string;
  @ApiId('Id of the workspace.') readonly workspace_id: string;
  @ApiProperty({ description: 'Name of the view.', example: 'Errors of checkout' }) readonly name: string;
  @ApiProperty({
    description: 'Conditions in the syntax of the dashboard, such as `status:min:400`. Default: none.',
    example: FILTER,
  })
  readonly filter: string;
  @ApiProperty({
    description:
      'Time range: `15m`, `1h`, `24h`, `7d`, `30d`, or two times with `..` between them. Empty: the range that is open. Default: empty.',
    example: '24h',
  })
  readonly range: string;
  @ApiProperty({
    description: 'Columns in their order. Empty: the default columns. Default: empty.',
    type: [String],
    example: ['time', 'status', 'model'],
  })
  readonly columns: readonly string[];
  @ApiProperty({
    description: 'Whether every user who may list the logs of the workspace sees the view. Default: false.',
  })
  readonly is_shared: boolean;
  @ApiId('Id of the user or service key that created the view.')
  readonly owner_id: string;
  @ApiProperty({ description: 'Whether the view is your own.' }) readonly is_own: boolean;
  @ApiCreatedAt() readonly created_at: string;
  @ApiLastUpdatedAt() readonly last_updated_at: string;

  static from(view: LogView, ownerId: string | null): LogViewDto {
    return {
      object: 'log_view',
      id: view.id,
      organisation_id: view.organizationId,
      workspace_id: view.workspaceId,
      name: view.name,
      filter: view.filter,
      range: view.range,
      columns: view.columns,
      is_shared: view.isShared,
      owner_id: view.ownerId,
      is_own: view.ownerId === ownerId,
      created_at: view.createdAt.toISOString(),
      last_updated_at: view.updatedAt.toISOString(),
    };
  }
}

export class LogViewListDto extends ListOf(LogViewDto) {
  static from(views: readonly LogView[], total: number, ownerId: string | null): LogViewListDto {
    return { object: 'list', total, data: views.map((view) => LogViewDto.from(view, ownerId)) };
  }
}
