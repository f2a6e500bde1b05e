import { Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller, CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import type { KnownSession } from '../../auth/ports.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { SessionListDto } from '../dto-fields/session.dto.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { sessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { SignedInService } from './signed-in.service.js';

@AdminController('auth')
@Refusals()
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly signedIn: SignedInService,
  ) {}

  @Get('session')
  @ForSession('sessions.read')
  @ApiOperation({
    summary: 'Read your session',
    description: 'Returns the user, the organization, the workspaces and what the user may do.',
  })
  @ApiOkResponse({ type: SignedInDto })
  async get(@CallerSession() session: KnownSession, @Caller() caller: Principal): Promise<SignedInDto> {
    return this.signedIn.of(await this.sessions.find(session), caller.scopes);
  }

  @Post('sign-out')
  @HttpCode(200)
  @ForSession('sessions.delete')
  @ApiOperation({ summary: 'Sign out', description: 'Ends the current session and clears its cookie.' })
  @ApiOkResponse({ type: DoneDto })
  async signOut(
    @CallerSession() session: KnownSession,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DoneDto> {
    await this.sessions.end(sessionOwner(session), session.id);
    reply.header('set-cookie', this.sessions.clearedCookie);
    return EMPTY_RESPONSE;
  }

  @Get('sessions')
  @ForSession('sessions.list')
  @ApiOperation({
    summary: 'List your sessions',
    description: 'Returns your sessions with device, address and last use.',
  })
  @ApiOkResponse({ type: SessionListDto })
  async list(@CallerSession() session: KnownSession): Promise<SessionListDto> {
    const sessions = await this.sessions.list(sessionOwner(session));
    return SessionListDto.of(sessions.map((each) => this.signedIn.shown(each, each.id === session.id)));
  }

  @Delete('sessions')
  @ForSession('sessions.delete')
  @ApiOperation({
    summary: 'End all your other sessions',
    description: 'Ends all your sessions except the current one.',
  })
  @ApiOkResponse({ type: DoneDto })
  async endOthers(@CallerSession() session: KnownSession): Promise<DoneDto> {
    await this.sessions.endOthers(session);
    return EMPTY_RESPONSE;
  }

  @Delete('sessions/:id')
  @ForSession('sessions.delete')
  @ApiOperation({ summary: 'End one of your sessions', description: 'Ends the session at once.' })
  @ApiOkResponse({ type: DoneDto })
  async end(@CallerSession() session: KnownSession, @Param('id') id: string): Promise<DoneDto> {
    await this.sessions.end(sessionOwner(session), id);
    return EMPTY_RESPONSE;
  }
}
