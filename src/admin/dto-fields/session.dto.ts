import { ApiProperty } from '@nestjs/swagger';
import { SIGN_IN_METHODS, type SignInMethod } from '../../common/contracts/sign-in-method.js';
import { ApiId, ApiMoment, ApiObject, ApiCreatedAt } from './fields.js';
import { ListOf } from './list.dto.js';

/** A dashboard session as its user sees it. */
export class SessionDto {
  @ApiObject('session')
  readonly object: 'session';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Whether this is the session of this request.', example: true })
  readonly is_current: boolean;

  @ApiProperty({ description: 'How the user signed in.', enum: SIGN_IN_METHODS })
  readonly method: SignInMethod;

  @ApiProperty({ description: 'IP address from which the user signed in.', example: '192.0.2.7' })
  readonly ip: string;

  @ApiProperty({
    description: 'Browser from which the user signed in. Null if it sent no name.',
    type: String,
    nullable: true,
    example: 'Mozilla/5.0',
  })
  readonly user_agent: string | null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiMoment('Time of the last request, to the minute.')
  readonly last_seen_at: string;

  @ApiMoment('Latest time at which the session ends.')
  readonly expires_at: string;

  @ApiMoment('Time at which the session ends unless it is used before.')
  readonly idle_expires_at: string;
}

export class SessionListDto extends ListOf(SessionDto) {
  static of(sessions: readonly SessionDto[]): SessionListDto {
    return { object: 'list', total: sessions.length, data: sessions };
  }
}

/** How a user can sign in. */
export class SignInMethodsDto {
  @ApiProperty({ description: 'Whether the user has a password.', example: true })
  readonly password: boolean;

  @ApiProperty({ description: 'Whether the user has an authenticator app.', example: false })
  readonly totp: boolean;

  @ApiProperty({ description: 'Number of unused recovery codes.', example: 0 })
  readonly recovery_codes_left: number;

  @ApiProperty({ description: 'Number of passkeys of the user.', example: 0 })
  readonly passkeys: number;
}
