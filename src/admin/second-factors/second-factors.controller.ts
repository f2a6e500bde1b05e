import { Body, Delete, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { KnownSession } from '../../auth/ports.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import { type EnrolledTotp, SecondFactorsService } from './second-factors.service.js';
import { sessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { ApiObject } from '../dto-fields/fields.js';

class EnrolledTotpDto {
  @ApiObject('enrolled-totp')
  readonly object: 'enrolled-totp';

  @ApiProperty({
    description: 'Secret for the authenticator app, in Base32. It is shown only in this response.',
    example: 'JBSWY3DPEHPK3PXP',
  })
  readonly secret: string;

  @ApiProperty({
    description: 'The same secret as an `otpauth://` URI, for a QR code.',
    example: 'otpauth://totp/Gatehouse:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Gatehouse',
  })
  readonly uri: string;
}

class ConfirmTotpDto {
  @ApiProperty({ description: 'The current six-digit code of the authenticator app.', example: '123456' })
  @Matches(/^\s*(?:\d\s*){6}$/, { message: 'it must be 6 digits' })
  @IsString()
  readonly code: string;
}

class RecoveryCodesDto {
  @ApiObject('recovery-codes')
  readonly object: 'recovery-codes';

  @ApiProperty({
    description: 'One-use codes that replace the authenticator app. They are shown only in this response.',
    type: [String],
    example: ['0a1b2-c3d4e-f5061-72839'],
  })
  readonly codes: readonly string[];

  static of(codes: readonly string[]): RecoveryCodesDto {
    return { object: 'recovery-codes', codes };
  }
}

/** The second factor of the signed-in user. */
@AdminController('auth')
@Refusals()
export class SecondFactorsController {
  constructor(
    private readonly factors: SecondFactorsService,
    private readonly sessions: SessionsService,
    private readonly policy: SignInPolicyService,
    private readonly audit: AuditTrail,
  ) {}

  @Post('totp')
  @HttpCode(200)
  @ForSession('second_factors.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Start to add an authenticator app',
    description: 'Returns a secret for an authenticator app. It counts once a code confirms it.',
  })
  @ApiOkResponse({ type: EnrolledTotpDto })
  async enrol(@CallerSession() session: KnownSession): Promise<EnrolledTotpDto> {
    this.audit.note({ targetId: session.userId });
    await this.policy.checkSession(session);
    const enrolled: EnrolledTotp = await this.factors.enrol(sessionOwner(session), session.principal.name);
    return { object: 'enrolled-totp', ...enrolled };
  }

  @Post('totp/confirm')
  @HttpCode(200)
  @ForSession('second_factors.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Confirm an authenticator app',
    description: 'Confirms the secret with a code and returns recovery codes once.',
  })
  @ApiOkResponse({ type: RecoveryCodesDto })
  async confirm(
    @CallerSession() session: KnownSession,
    @Body() { code }: ConfirmTotpDto,
  ): Promise<RecoveryCodesDto> {
    this.audit.note({ targetId: session.userId });
    await this.policy.checkSession(session);
    const codes = await this.factors.confirm(sessionOwner(session), code);
    await this.sessions.endOthers(session);
    return RecoveryCodesDto.of(codes);
  }

  @Delete('totp')
  @ForSession('second_factors.delete')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Remove your authenticator app',
    description: 'Sign-in no longer requires a code.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@CallerSession() session: KnownSession): Promise<DoneDto> {
    this.audit.note({ targetId: session.userId });
    await this.factors.remove(sessionOwner(session));
    return EMPTY_RESPONSE;
  }

  @Post('recovery-codes')
  @HttpCode(200)
  @ForSession('second_factors.update')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Replace your recovery codes',
    description: 'Returns new recovery codes once. The old ones stop working.',
  })
  @ApiOkResponse({ type: RecoveryCodesDto })
  async renew(@CallerSession() session: KnownSession): Promise<RecoveryCodesDto> {
    this.audit.note({ targetId: session.userId });
    await this.policy.checkSession(session);
    return RecoveryCodesDto.of(await this.factors.renewRecoveryCodes(sessionOwner(session)));
  }
}
