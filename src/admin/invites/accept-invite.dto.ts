import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { IfGiven } from '../../common/http/validators.js';
import { ApiId, TakesName } from '../dto-fields/fields.js';

const LONGEST_TOKEN = 200;
const LONGEST_EMAIL = 320;
const SHORTEST_PASSWORD = 12;
const LONGEST_PASSWORD = 200;

export class AcceptInviteDto {
  /** The part after the `#` of the link. */
  @ApiProperty({ writeOnly: true, example: 'gw_invite_…' })
  @IsString()
  @MaxLength(LONGEST_TOKEN)
  readonly token: string;

  @TakesName('Ada')
  readonly first_name: string;

  @TakesName('Lovelace')
  readonly last_name: string;

  /** To sign in to the dashboard. Common passwords are refused. Not needed by users who sign in elsewhere. */
  @ApiPropertyOptional({ writeOnly: true, minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_PASSWORD)
  readonly password?: string;

  /** Optional check: must be the invited address. Case-insensitive. */
  @ApiPropertyOptional({ example: 'ada@example.com' })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_EMAIL)
  readonly email?: string;
}

class FirstKeyDto {
  @ApiId()
  readonly workspace_id: string;

  @ApiId()
  readonly id: string;

  /** The secret. It is never shown again. */
  @ApiProperty({ example: 'gw_user_<49 characters>' })
  readonly key: string;
}

/** The new user, with the keys promised in the invite. */
export class AcceptedInviteDto {
  @ApiProperty({ enum: ['accepted-invite'] })
  readonly object = 'accepted-invite';

  @ApiId()
  readonly user_id: string;

  @ApiId()
  readonly organisation_id: string;

  @ApiProperty({ example: 'ada@example.com' })
  readonly email: string;

  @ApiProperty({ type: [FirstKeyDto] })
  readonly api_keys: readonly FirstKeyDto[];

  static from(accepted: Omit<AcceptedInviteDto, 'object'>): AcceptedInviteDto {
    return Object.assign(new AcceptedInviteDto(), accepted);
  }
}
