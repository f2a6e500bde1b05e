import { Body, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { KnownSession } from '../../auth/ports.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { AddPasskeyDto, PasskeyDto, PasskeyListDto, PasskeyOptionsDto } from './passkey.dto.js';
import { PasskeysService } from './passkeys.service.js';

/** The passkeys of the signed-in user. */
@AdminController('auth/passkeys')
@Refusals()
export class PasskeysController {
  constructor(
    private readonly passkeys: PasskeysService,
    private readonly policy: SignInPolicyService,
    private readonly audit: AuditTrail,
  ) {}

  @Get()
  @ForSession('passkeys.list')
  @ApiOperation({ summary: 'List your passkeys', description: 'Returns your passkeys with their last use.' })
  @ApiOkResponse({ type: PasskeyListDto })
  async list(@CallerSession() session: KnownSession): Promise<PasskeyListDto> {
    return PasskeyListDto.from(await this.passkeys.list(session));
  }

  @Post('creation-options')
  @HttpCode(200)
  @ForSession('passkeys.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Get the options for creating a passkey',
    description: 'Returns the options for `navigator.credentials.create` in the browser.',
  })
  @ApiOkResponse({ type: PasskeyOptionsDto })
  async creationOptions(@CallerSession() session: KnownSession): Promise<PasskeyOptionsDto> {
    this.audit.leaveOut();
    await this.policy.checkSession(session);
    return PasskeyOptionsDto.of(await this.passkeys.creationOptions(session));
  }

  @Post()
  @HttpCode(200)
  @ForSession('passkeys.create')
  @RequireStepUp()
  @ApiOperation({ summary: 'Add a passkey', description: 'Stores the public key of a new passkey.' })
  @ApiOkResponse({ type: PasskeyDto })
  async add(
    @CallerSession() session: KnownSession,
    @Body() { name, credential }: AddPasskeyDto,
  ): Promise<PasskeyDto> {
    await this.policy.checkSession(session);
    const passkey = PasskeyDto.from(await this.passkeys.add(session, name, credential));
    this.audit.note({ targetId: passkey.id, after: passkey });
    return passkey;
  }

  @Delete(':id')
  @ForSession('passkeys.delete')
  @RequireStepUp()
  @ApiOperation({ summary: 'Delete one of your passkeys', description: 'The passkey can no longer sign in.' })
  @ApiOkResponse({ type: DoneDto })
  async remove(@CallerSession() session: KnownSession, @Param('id') id: string): Promise<DoneDto> {
    await this.passkeys.remove(session, id);
    return EMPTY_RESPONSE;
  }
}
