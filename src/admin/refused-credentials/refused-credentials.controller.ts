import { Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { ListRefusedCredentialsQuery } from './refused-credential-query.dto.js';
import { RefusedCredentialListDto } from './refused-credential.dto.js';
import { RefusedCredentialsService } from './refused-credentials.service.js';

/** Shows addresses of clients, as the audit log does, and therefore to the same callers. */
@AdminController('audit-logs/refused-credentials')
@Refusals()
export class RefusedCredentialsController {
  constructor(private readonly refused: RefusedCredentialsService) {}

  @Get()
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({
    summary: 'List refused credentials',
    description:
      'Returns requests without a valid credential, added up by address, end of the credential and reason, latest first. They appear within about five seconds, and at most 2,000 rows are kept.',
  })
  @ApiOkResponse({ type: RefusedCredentialListDto })
  list(
    @Caller() { organizationId }: Principal,
    @Query() query: ListRefusedCredentialsQuery,
  ): Promise<RefusedCredentialListDto> {
    return this.refused.list(organizationId, query.reason, pageOf(query));
  }
}
