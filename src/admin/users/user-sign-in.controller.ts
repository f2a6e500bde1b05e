import { Delete, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, CallerSessionId, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { SessionListDto, SignInMethodsDto } from '../dto-fields/session.dto.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';
import { UserSignInService } from './user-sign-in.service.js';

@AdminController('admin/users/:userId')
@Refusals()
export class UserSignInController {
  constructor(
    private readonly users: UserSignInService,
    private readonly signedIn: SignedInService,
  ) {}

  @Get('sessions')
  @RequireScope('organisation_users.read', 'administrators')
  @ApiOperation({
    summary: 'List the sessions of a user',
    description: 'Returns the sessions with device, address and last use.',
  })
  @ApiOkResponse({ type: SessionListDto })
  async listSessions(
    @Caller() caller: Principal,
    @CallerSessionId() current: string | null,
    @Param('userId') id: string,
  ): Promise<SessionListDto> {
    const sessions = await this.users.listSessions(caller, id);
    return SessionListDto.of(sessions.map((session) => this.signedIn.shown(session, session.id === current)));
  }

  @Delete('sessions')
  @RequireScope('organisation_users.update', 'administrators')
  @ApiOperation({
    summary: 'End all sessions of a user',
    description: 'Ends all sessions of the user at once.',
  })
  @ApiOkResponse({ type: DoneDto })
  async endAllSessions(@Caller() caller: Principal, @Param('userId') id: string): Promise<DoneDto> {
    await this.users.endAllSessions(caller, id);
    return EMPTY_RESPONSE;
  }

  @Delete('sessions/:sessionId')
  @RequireScope('organisation_users.update', 'administrators')
  @ApiOperation({ summary: 'End a session of a user', description: 'Ends the session at once.' })
  @ApiOkResponse({ type: DoneDto })
  async endSession(
    @Caller() caller: Principal,
    @Param('userId') id: string,
    @Param('sessionId') sessionId: string,
  ): Promise<DoneDto> {
    await this.users.endSession(caller, id, sessionId);
    return EMPTY_RESPONSE;
  }

  @Get('sign-in-methods')
  @RequireScope('organisation_users.read', 'administrators')
  @ApiOperation({
    summary: 'Read the sign-in methods of a user',
    description:
      'Returns whether the user has a password, an authenticator app, passkeys and recovery codes.',
  })
  @ApiOkResponse({ type: SignInMethodsDto })
  methods(@Caller() caller: Principal, @Param('userId') id: string): Promise<SignInMethodsDto> {
    return this.users.methods(caller, id);
  }

  @Delete('second-factors')
  @RequireScope('organisation_users.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Remove the second factors of a user',
    description: 'Helps a user who has lost their device. The sessions of the user end.',
  })
  @ApiOkResponse({ type: DoneDto })
  async removeSecondFactors(@Caller() caller: Principal, @Param('userId') id: string): Promise<DoneDto> {
    await this.users.removeSecondFactors(caller, id);
    return EMPTY_RESPONSE;
  }
}
