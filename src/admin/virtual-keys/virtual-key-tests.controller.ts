import { Body, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AuditedAs, Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { CredentialTestDto, TestCredentialDto } from './virtual-key-test.dto.js';
import { VirtualKeyTests } from './virtual-key-tests.service.js';

const TestsCredentials = (): MethodDecorator =>
  Refuses(new AppError('overloaded'), 'Too many tests run at the same time.');

@AdminController('virtual-keys')
@Refusals()
export class VirtualKeyTestsController {
  constructor(
    private readonly tests: VirtualKeyTests,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post('test')
  @HttpCode(200)
  @RequireScope('virtual_keys.create')
  @AuditedAs('virtual_keys.test')
  @ApiOperation({
    summary: 'Test a credential before it is stored',
    description:
      'Sends a request that costs nothing to the provider and reports whether it accepted the credential. Nothing is stored.',
  })
  @TestsCredentials()
  @ApiOkResponse({ type: CredentialTestDto })
  async testUnsaved(@Caller() caller: Principal, @Body() dto: TestCredentialDto): Promise<CredentialTestDto> {
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    return CredentialTestDto.from(await this.tests.ofUnsaved(tenant, dto));
  }

  @Post(':slug/test')
  @HttpCode(200)
  @RequireScope('virtual_keys.update')
  @AuditedAs('virtual_keys.test')
  @ApiOperation({
    summary: 'Test the credential of a virtual key',
    description:
      'Sends a request that costs nothing to the provider and reports whether it accepted the credential.',
  })
  @TestsCredentials()
  @ApiOkResponse({ type: CredentialTestDto })
  async test(@Caller() caller: Principal, @Param('slug') slug: string): Promise<CredentialTestDto> {
    return CredentialTestDto.from(await this.tests.ofStored(reachOf(caller), slug));
  }
}
