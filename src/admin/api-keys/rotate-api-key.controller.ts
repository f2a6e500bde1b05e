import { Body, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireOneOf } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { RotateApiKeyDto, RotatedApiKeyDto } from './new-secret.dto.js';
import { ApiKeysService } from './api-keys.service.js';

/** Separate from the other operations, because the compatible API has this one under two versions. */
@AdminController(['api-keys', 'v2/api-keys'])
@Refusals()
export class RotateApiKeyController {
  constructor(private readonly apiKeys: ApiKeysService) {}

  @Post(':id/rotate')
  @HttpCode(200)
  @RequireOneOf(
    'organisation_service_api_keys.rotate',
    'workspace_service_api_keys.rotate',
    'workspace_user_api_keys.rotate',
  )
  @RequireStepUp()
  @ApiOperation({
    summary: 'Rotate an API key',
    description:
      'Creates a new secret and shows it once. The old one works for a transition period.\n\nOnly users of at least the rank of the user on whose authority the key acts.',
  })
  @ApiOkResponse({ type: RotatedApiKeyDto })
  async rotate(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() { key_transition_period_ms }: RotateApiKeyDto,
  ): Promise<RotatedApiKeyDto> {
    const { key, secret, oldEndsAt } = await this.apiKeys.rotate(caller, id, key_transition_period_ms);
    return RotatedApiKeyDto.from(key, secret.reveal(), oldEndsAt);
  }
}
