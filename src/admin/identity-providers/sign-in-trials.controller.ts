import { Body, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { SignInTrialDto, StartedTrialDto, StartTrialDto } from './sign-in-trial.dto.js';
import { SignInTrialsService } from './sign-in-trials.service.js';

@AdminController('admin/organisation/sign-in-trials', 'single-sign-on')
@Refusals()
export class SignInTrialsController {
  constructor(
    private readonly trials: SignInTrialsService,
    private readonly audit: AuditTrail,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Start a sign-in trial',
    description: 'Returns an address for a sign-in that only shows what would happen. Only owners may.',
  })
  @Refuses(
    new AppError('sso_provider_unavailable', { detail: 'it could not be reached' }),
    'The identity provider cannot be used.',
  )
  @ApiOkResponse({ type: StartedTrialDto })
  async start(@Caller() caller: Principal, @Body() dto: StartTrialDto): Promise<StartedTrialDto> {
    const started = await this.trials.start(caller, dto);
    this.audit.note({ targetId: started.id, workspaceId: null });
    return started;
  }

  @Get(':id')
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read the result of a sign-in trial',
    description: 'Returns the claims of the user, and the roles or the error that would follow.',
  })
  @ApiOkResponse({ type: SignInTrialDto })
  get(@Caller() caller: Principal, @Param('id') id: string): Promise<SignInTrialDto> {
    return this.trials.get(caller, id);
  }
}
