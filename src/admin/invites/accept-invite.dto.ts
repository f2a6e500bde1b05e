import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { IfGiven } from '../../common/http/validators.js';
import { ApiId, ApiObject, TakesName } from '../dto-fields/fields.js';
import { Audited } from '../dto-fields/audited.js';

const LONGEST_TOKEN = 200;
const LONGEST_EMAIL = 320;
const SHORTEST_PASSWORD = 12;
const LONGEST_PASSWORD = 200;

export class AcceptInviteDto {
  @ApiProperty({
    description: 'Token from the invite link: the part after `#`.',
    writeOnly: true,
    example: 'gw_invite_…',
  })
  @IsString()
  @MaxLength(LONGEST_TOKEN)
  readonly token: string;

  @TakesName('Ada', 'Given name. Null if it is unknown.')
  readonly first_name: string;

  @TakesName('Lovelace', 'Family name. Null if it is unknown.')
  readonly last_name: string;

  @ApiPropertyOptional({
    description:
      'Password for the dashboard, 12 to 200 characters; common ones are refused. Leave it out for single sign-on.',
    writeOnly: true,
    minLength: SHORTEST_PASSWORD,
    maxLength: LONGEST_PASSWORD,
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_PASSWORD)
  readonly password?: string;

  @Audited()
  @ApiPropertyOptional({
    description: 'E-mail address to check against the invited one. Optional.',
    example: 'ada@example.com',
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_EMAIL)
  readonly email?: string;
}

class FirstKeyDto {
  @ApiId('Id of the workspace.')
  readonly workspace_id: string;

  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'The secret API key. It is shown only in this response.',
    example: 'gw_user_<49 characters>',
  })
  readonly key: string;
}

/** The new user, with the keys promised in the invite. */
export class AcceptedInviteDto {
  @ApiObject('accepted-invite')
  readonly object: 'accepted-invite';

  @ApiId('Id of the user. Null if there is none.')
  readonly user_id: string;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  readonly email: string;

  @ApiProperty({
    description: 'API keys created for the user, shown only in this response.',
    type: [FirstKeyDto],
  })
  readonly api_keys: readonly FirstKeyDto[];

  static from(accepted: Omit<AcceptedInviteDto, 'object'>): AcceptedInviteDto {
    return { object: 'accepted-invite', ...accepted };
  }
}
