import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, IsUUID, MaxLength } from 'class-validator';
import { IfGiven } from '../../common/http/validators.js';
import { AN_ID } from '../dto-fields/fields.js';
import { MayTakeCode, TakesPassword } from '../passwords/password.dto.js';

const LONGEST_EMAIL = 320;

export class SignInDto {
  @ApiProperty({ example: 'ada@example.com' })
  @IsString()
  @MaxLength(LONGEST_EMAIL)
  readonly email: string;

  @TakesPassword()
  readonly password: string;

  @MayTakeCode()
  readonly code?: string;

  /** For a user of several organizations; default: the oldest one whose password matches. */
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  @IfGiven()
  @IsUUID()
  readonly organisation_id?: string;
}
