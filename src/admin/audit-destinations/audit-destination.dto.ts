import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Length, Matches, MaxLength } from 'class-validator';
import { parseAuditTarget } from '../../common/contracts/audit-destination.js';
import type { AuditDestination } from './audit-destination.entity.js';
import { IfGiven, IsName, OrNull } from '../../common/http/validators.js';
import { ApiId } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';

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
  @ApiProperty({ example: 'SIEM' })
  @IsName()
  readonly name: string;

  /** `https://host/path` for a webhook; `tls://host:port`, `tcp://host:port` or `udp://host:port` for syslog. */
  @ApiProperty({ example: AN_ADDRESS, pattern: ADDRESS })
  @Address()
  readonly url: string;

  /** Signing secret of a webhook, 16 to 255 characters. Syslog has none. */
  @ApiPropertyOptional({ writeOnly: true, minLength: 16, maxLength: 255, example: A_SECRET })
  @SigningSecret()
  readonly secret?: string;

  /** For `tls://`: certificates (PEM) trusted besides the default ones. */
  @ApiPropertyOptional({ type: String, nullable: true })
  @Certificates()
  readonly ca_certificate?: string | null;

  @ApiPropertyOptional({ default: true })
  @IfGiven()
  @IsBoolean()
  readonly enabled?: boolean;

  /** True: from the organization's first record on. False: from now on. */
  @ApiPropertyOptional({ default: false })
  @IfGiven()
  @IsBoolean()
  readonly from_the_beginning?: boolean;
}

export class UpdateAuditDestinationDto {
  @ApiPropertyOptional({ example: 'SIEM' })
  @IfGiven()
  @IsName()
  readonly name?: string;

  /** Changing the scheme, host or port of a webhook requires the secret again. */
  @ApiPropertyOptional({ example: AN_ADDRESS, pattern: ADDRESS })
  @IfGiven()
  @Address()
  readonly url?: string;

  @ApiPropertyOptional({ writeOnly: true, minLength: 16, maxLength: 255, example: A_SECRET })
  @SigningSecret()
  readonly secret?: string;

  @ApiPropertyOptional({ type: String, nullable: true })
  @Certificates()
  readonly ca_certificate?: string | null;

  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly enabled?: boolean;
}

class ForwardingStatusDto {
  /** Number of the last record that the receiver has accepted. */
  @ApiProperty({ example: '4711' }) readonly delivered_seq: string;

  /** Records that it has not accepted yet. */
  @ApiProperty({ example: 0 }) readonly lag: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly last_delivered_at: string | null;

  /** Failed attempts since the last success. */
  @ApiProperty({ example: 0 }) readonly failures: number;

  @ApiProperty({ type: String, nullable: true, example: 'it returned status 500' })
  readonly last_error: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly failing_since: string | null;

  /** While it fails: when the next attempt is due. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly next_try_at: string | null;
}

/** A destination with its progress. */
export class AuditDestinationDto {
  @ApiProperty({ enum: ['audit-log-destination'] }) readonly object = 'audit-log-destination';
  @ApiId() readonly id: string;
  @ApiProperty({ example: 'SIEM' }) readonly name: string;
  @ApiProperty({ enum: ['webhook', 'syslog'] }) readonly type: 'webhook' | 'syslog';
  @ApiProperty({ example: AN_ADDRESS }) readonly url: string;

  /** Never the secret itself. */
  @ApiProperty({ type: String, nullable: true, example: '***' }) readonly secret: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly ca_certificate: string | null;
  @ApiProperty() readonly enabled: boolean;
  @ApiProperty({ type: ForwardingStatusDto }) readonly status: ForwardingStatusDto;
  @ApiProperty({ format: 'date-time' }) readonly created_at: string;
  @ApiProperty({ format: 'date-time' }) readonly last_updated_at: string;

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
