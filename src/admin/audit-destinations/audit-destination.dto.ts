import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Length, Matches, MaxLength } from 'class-validator';
import { parseAuditTarget } from '../../common/contracts/audit-destination.js';
import type { AuditDestination } from './audit-destination.entity.js';
import { IfGiven, IsName, OrNull } from '../../common/http/validators.js';
import { ApiId, ApiObject, ApiCreatedAt, ApiLastUpdatedAt } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

const A_SECRET = 'sixteen-or-more-characters';
/** A first check; `parseAuditTarget` has more rules about hosts. */
const ADDRESS = '^(?:https?://.+|(?:tls|tcp|udp)://[^/]+:[0-9]{1,5})$';
const AN_ADDRESS = 'https://siem.example.com/gatehouse';

const Address = (): PropertyDecorator => applyDecorators(IsString(), MaxLength(2048));
const SigningSecret = (): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsString(),
    Length(16, 255),
    Matches(/^[!-~](?:[ -~]*[!-~])?$/, { message: 'it must be printable ASCII without spaces around it' }),
  );
const Certificates = (): PropertyDecorator => applyDecorators(OrNull(), IsString(), Length(1, 20_000));

export class CreateAuditDestinationDto {
  @Audited()
  @ApiProperty({ description: 'Name of the destination.', example: 'SIEM' })
  @IsName()
  readonly name: string;

  @ApiProperty({
    description:
      'Address: `https://host/path` for a webhook; `tls://`, `tcp://` or `udp://` with host and port for syslog.',
    example: AN_ADDRESS,
    pattern: ADDRESS,
  })
  @Address()
  readonly url: string;

  @ApiPropertyOptional({
    description:
      'Secret that signs the calls of a webhook, 16 to 255 characters. Syslog takes none. Responses show `***`.',
    writeOnly: true,
    minLength: 16,
    maxLength: 255,
    example: A_SECRET,
  })
  @SigningSecret()
  readonly secret?: string;

  @ApiPropertyOptional({
    description: 'For `tls://`: PEM certificates to trust beside the usual ones. Null: none. Default: null.',
    type: String,
    nullable: true,
  })
  @Certificates()
  readonly ca_certificate?: string | null;

  @ApiPropertyOptional({ description: 'Whether it is in use. Default: true.', default: true })
  @IfGiven()
  @IsBoolean()
  readonly enabled?: boolean;

  @ApiPropertyOptional({
    description:
      'True forwards all records from the first one on. False forwards those written from now on. Default: false.',
    default: false,
  })
  @IfGiven()
  @IsBoolean()
  readonly from_the_beginning?: boolean;
}

export class UpdateAuditDestinationDto {
  @Audited()
  @ApiPropertyOptional({ description: 'Name of the destination.', example: 'SIEM' })
  @IfGiven()
  @IsName()
  readonly name?: string;

  @ApiPropertyOptional({
    description:
      'Address, as in the creation. Changing the scheme, host or port of a webhook requires the secret again.',
    example: AN_ADDRESS,
    pattern: ADDRESS,
  })
  @IfGiven()
  @Address()
  readonly url?: string;

  @ApiPropertyOptional({
    description:
      'Secret that signs the calls of a webhook, 16 to 255 characters. Syslog takes none. Responses show `***`.',
    writeOnly: true,
    minLength: 16,
    maxLength: 255,
    example: A_SECRET,
  })
  @SigningSecret()
  readonly secret?: string;

  @ApiPropertyOptional({
    description: 'For `tls://`: PEM certificates to trust beside the usual ones. Null: none. Default: null.',
    type: String,
    nullable: true,
  })
  @Certificates()
  readonly ca_certificate?: string | null;

  @ApiPropertyOptional({ description: 'Whether it is in use. Default: true.' })
  @IfGiven()
  @IsBoolean()
  readonly enabled?: boolean;
}

class ForwardingStatusDto {
  @ApiProperty({ description: 'Number of the last record that the receiver accepted.', example: '4711' })
  readonly delivered_seq: string;

  @ApiProperty({ description: 'Number of records that were not delivered yet.', example: 0 })
  readonly lag: number;

  @ApiProperty({
    description: 'Time of the last delivery. Null if there was none.',
    type: String,
    format: 'date-time',
    nullable: true,
  })
  readonly last_delivered_at: string | null;

  @ApiProperty({ description: 'Number of consecutive failed deliveries.', example: 0 })
  readonly failures: number;

  @ApiProperty({
    description: 'Why the last delivery failed. Null if it succeeded.',
    type: String,
    nullable: true,
    example: 'it returned status 500',
  })
  readonly last_error: string | null;

  @ApiProperty({
    description: 'Time of the first of these failures. Null if there is none.',
    type: String,
    format: 'date-time',
    nullable: true,
  })
  readonly failing_since: string | null;

  @ApiProperty({
    description: 'Time of the next attempt after a failure. Null if none is due.',
    type: String,
    format: 'date-time',
    nullable: true,
  })
  readonly next_try_at: string | null;
}

/** A destination with its progress. */
export class AuditDestinationDto {
  @ApiObject('audit-log-destination') readonly object = 'audit-log-destination';
  @ApiId() readonly id: string;
  @ApiProperty({ description: 'Name of the destination.', example: 'SIEM' }) readonly name: string;
  @ApiProperty({ description: 'Kind of the destination.', enum: ['webhook', 'syslog'] }) readonly type:
    'webhook' | 'syslog';
  @ApiProperty({
    description:
      'Address: `https://host/path` for a webhook; `tls://`, `tcp://` or `udp://` with host and port for syslog.',
    example: AN_ADDRESS,
  })
  readonly url: string;

  @ApiProperty({
    description:
      'Secret that signs the calls of a webhook, 16 to 255 characters. Syslog takes none. Responses show `***`.',
    type: String,
    nullable: true,
    example: '***',
  })
  readonly secret: string | null;
  @ApiProperty({
    description: 'For `tls://`: PEM certificates to trust beside the usual ones. Null: none. Default: null.',
    type: String,
    nullable: true,
  })
  readonly ca_certificate: string | null;
  @ApiProperty({ description: 'Whether it is in use. Default: true.' }) readonly enabled: boolean;
  @ApiProperty({ description: 'Progress of forwarding.', type: ForwardingStatusDto })
  readonly status: ForwardingStatusDto;
  @ApiCreatedAt() readonly created_at: string;
  @ApiLastUpdatedAt() readonly last_updated_at: string;

  /** `headSeq`: number of the organization's last record. */
  static from(row: AuditDestination, headSeq: string): AuditDestinationDto {
    return {
      object: 'audit-log-destination',
      id: row.id,
      name: row.name,
      type: parseAuditTarget(row.url).type,
      url: row.url,
      secret: row.sealedSecret === null ? null : '***',
      ca_certificate: row.caCertificate,
      enabled: row.isEnabled,
      status: statusOf(row, headSeq),
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.updatedAt.toISOString(),
    };
  }
}

function statusOf(row: AuditDestination, headSeq: string): ForwardingStatusDto {
  return {
    delivered_seq: row.deliveredSeq,
    lag: Math.max(0, Number(headSeq) - Number(row.deliveredSeq)),
    last_delivered_at: row.deliveredAt?.toISOString() ?? null,
    failures: row.failures,
    last_error: row.lastError,
    failing_since: row.failingSince?.toISOString() ?? null,
    next_try_at: row.failures > 0 ? row.nextTryAt.toISOString() : null,
  };
}

export class AuditDestinationListDto extends ListOf(AuditDestinationDto) {
  static from(rows: readonly AuditDestination[], total: number, headSeq: string): AuditDestinationListDto {
    return { object: 'list', total, data: rows.map((row) => AuditDestinationDto.from(row, headSeq)) };
  }
}
