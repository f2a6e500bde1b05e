import {
  Body,
  type CanActivate,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { IsEmailAddress } from '../../common/http/email-address.js';
import { IfGiven } from '../../common/http/validators.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { MayTakeName } from '../dto-fields/fields.js';
import { MayTakeCode, TakesNewPassword } from '../passwords/password.dto.js';
import { signInOrigin } from '../sessions/sessions.service.js';
import { SetUpService } from './set-up.service.js';
import { SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';
import { Audited } from '../dto-fields/audited.js';

const LONGEST_TOKEN = 200;

class SetUpDto {
  @ApiProperty({
    description: 'Token from the set-up link: the part after `#`.',
    writeOnly: true,
    example: 'gw_setup_…',
  })
  @IsString()
  @MaxLength(LONGEST_TOKEN)
  readonly token: string;

  @Audited()
  @ApiPropertyOptional({
    description: 'E-mail address for the sign-in. Only the set-up link of the first owner changes it.',
    example: 'ada@example.com',
  })
  @IfGiven()
  @IsEmailAddress()
  readonly email?: string;

  @Audited()
  @MayTakeName('Ada Lovelace', 'Full name of the user.')
  readonly name?: string;

  @TakesNewPassword()
  readonly password: string;

  @MayTakeCode()
  readonly code?: string;
}

/** Limits guesses at the second factor of a user whose link was obtained by someone else. */
@Injectable()
export class SetUpThrottleGuard implements CanActivate {
  constructor(
    private readonly throttle: SignInThrottle,
    private readonly addresses: ClientAddresses,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const { raw, body } = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Body: { token?: unknown } | null }>>();
    const token = typeof body?.token === 'string' ? body.token.slice(0, LONGEST_TOKEN) : '';
    await this.throttle.count({ kind: 'link', address: this.addresses.of(raw), subject: token });
    return true;
  }
}

/** Needs no other credential than the token of the link. */
@PublicController('auth/set-up', 'auth')
@Refusals()
export class SetUpController {
  constructor(
    private readonly setUp: SetUpService,
    private readonly signedIn: SignedInService,
    private readonly addresses: ClientAddresses,
  ) {}

  @Post()
  @HttpCode(200)
  @UseGuards(OriginGuard, SetUpThrottleGuard)
  @ApiOperation({
    summary: 'Set your first password',
    description:
      'Sets name and password with a one-use link from the administrator or the command line, and opens a session.',
    security: [],
  })
  @Refuses(new AppError('sign_in_link_gone'), 'The link is used, expired or unknown.')
  @ApiOkResponse({ type: SignedInDto })
  async use(
    @Body() dto: SetUpDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    const origin = signInOrigin(request, this.addresses);
    const { session, cookies } = await this.setUp.use(dto, origin);
    const answer = await this.signedIn.of(session);
    reply.header('set-cookie', cookies);
    return answer;
  }
}
