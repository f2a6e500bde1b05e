import { Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, ForEveryCaller } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { MeDto } from './me.dto.js';

@AdminController('admin/me', 'api-keys')
@Refusals()
export class MeController {
  @Get()
  @ForEveryCaller()
  @ApiOperation({
    summary: 'Read your credential and its scopes',
    description: 'Returns the credential that was sent: its kind, owner, workspace and scopes.',
  })
  @ApiOkResponse({ type: MeDto })
  get(@Caller() caller: Principal): MeDto {
    return MeDto.from(caller);
  }
}
