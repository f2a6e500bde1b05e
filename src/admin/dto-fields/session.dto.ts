import { ApiProperty } from '@nestjs/swagger';
import { SIGN_IN_METHODS, type SignInMethod } from '../../common/contracts/sign-in-method.js';
import { ApiId, ApiMoment } from './fields.js';
import { ListOf } from './list.dto.js';

/** A dashboard session as its user sees it. */
export class SessionDto {
  @ApiProperty({ enum: ['session'] })
  readonly object = 'session';

  @ApiId()
  readonly id: string;

  /** Whether it is the current request's session. */
  @ApiProperty({ example: true })
  readonly is_current: boolean;

  @ApiProperty({ enum: SIGN_IN_METHODS })
  readonly method: SignInMethod;

  @ApiProperty({ example: '192.0.2.7' })
  readonly ip: string;

  @ApiProperty({ type: String, nullable: true, example: 'Mozilla/5.0' })
  readonly user_agent: string | null;

  @ApiMoment()
  readonly created_at: string;

  /** Precise to a minute. */
  @ApiMoment()
  readonly last_seen_at: string;

  /** Latest end of the session. */
  @ApiMoment()
  readonly expires_at: string;

  /** When it ends unless it is used before. */
  @ApiMoment()
  readonly idle_expires_at: string;
}

export class SessionListDto extends ListOf(SessionDto) {
  static of(sessions: readonly SessionDto[]): SessionListDto {
    return Object.assign(new SessionListDto(), { total: sessions.length, data: sessions });
  }
}

/** How a user can sign in. */
export class SignInMethodsDto {
  /** Whether the user has a password. */
  @ApiProperty({ example: true })
  readonly password: boolean;

  /** Whether sign-ins require a code of an authenticator app. */
  @ApiProperty({ example: false })
  readonly totp: boolean;

  @ApiProperty({ example: 0 })
  readonly recovery_codes_left: number;

  @ApiProperty({ example: 0 })
  readonly passkeys: number;
}
