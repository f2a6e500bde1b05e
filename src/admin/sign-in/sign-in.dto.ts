import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, IsUUID, MaxLength } from 'class-validator';
import { IfGiven } from '../../common/http/validators.js';
import { AN_ID } from '../dto-fields/fields.js';
import { MayTakeCode, TakesPassword } from '../passwords/password.dto.js';
import { Audited } from '../dto-fields/audited.js';

const LONGEST_EMAIL = 320;

export class SignInDto {
  @Audited()
  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  @IsString()
  @MaxLength(LONGEST_EMAIL)
  readonly email: string;

  @TakesPassword('Password of the user.')
  readonly password: string;

  @MayTakeCode()
  readonly code?: string;

  @Audited()
  @ApiPropertyOptional({
    description:
      'Id of the organization, for a user of several. Default: the oldest organization in which the password is right.',
    format: 'uuid',
    example: AN_ID,
  })
  @IfGiven()
  @IsUUID()
  readonly organisation_id?: string;
}
