import { Body, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import type { KnownSession } from '../../auth/ports.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { ChangePasswordDto, StepUpDto } from '../passwords/password.dto.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { ReauthenticationGuard, VerifiedPasswordHash } from './reauthentication.guard.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { type OpenedSession, sessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';

@AdminController('auth')
@Refusals()
export class PasswordController {
  constructor(
    private readonly passwords: PasswordsService,
    private readonly sessions: SessionsService,
    private readonly signedIn: SignedInService,
    private readonly audit: AuditTrail,
  ) {}

  @Post('step-up')
  @HttpCode(200)
  @UseGuards(ReauthenticationGuard)
  @ForSession('sessions.update')
  @ApiOperation({
    summary: 'Confirm your identity with a password or code',
    description:
      'Confirms your identity for 10 minutes, for changes that need it. Takes the password and, if you have set up a second factor, its code.',
  })
  @Refuses(new AppError('reauthentication_failed'), 'The password is wrong.')
  @ApiOkResponse({ type: SignedInDto })
  async stepUp(
    @CallerSession() session: KnownSession,
    @Body() _dto: StepUpDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    this.audit.note({ targetId: session.id });
    return this.answer(await this.sessions.renew(session), session.principal, reply);
  }

  @Post('password')
  @HttpCode(200)
  @UseGuards(ReauthenticationGuard)
  @ForSession('passwords.update')
  @ApiOperation({
    summary: 'Change your password',
    description: 'Sets a new password. All your other sessions end.',
  })
  @Refuses(new AppError('reauthentication_failed'), 'The password is wrong.')
  @ApiOkResponse({ type: SignedInDto })
  async change(
    @CallerSession() session: KnownSession,
    @Body() { new_password }: ChangePasswordDto,
    @VerifiedPasswordHash() verifiedHash: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    const { userId } = session;
    this.audit.note({ targetId: userId });
    const hash = await this.passwords.hash(new_password, session.principal.name);
    await this.passwords.replace(sessionOwner(session), verifiedHash, hash);
    await this.sessions.endOthers(session);
    return this.answer(await this.sessions.renew(session), session.principal, reply);
  }

  private async answer(
    { session, cookie }: OpenedSession,
    { scopes }: Principal,
    reply: FastifyReply,
  ): Promise<SignedInDto> {
    const answer = await this.signedIn.of(session, scopes);
    reply.header('set-cookie', cookie);
    return answer;
  }
}
