import { Readable } from 'node:stream';
import { Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import { Caller, Recorded, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { checkOrganization } from '../http/own-organization.js';
import { Refusals } from '../openapi/decorators.js';
import { auditConditions } from './audit-filters.js';
import { AuditFilterQuery, ListAuditLogsQuery, VerifyAuditLogsQuery } from './audit-query.dto.js';
import { AuditLogListDto } from './audit-log.dto.js';
import { AuditLogsService } from './audit-logs.service.js';
import { ChainReportDto } from './chain-report.dto.js';
import { ChainVerification } from '../audit/chain-verification.service.js';

const JSON_LINES = 'application/x-ndjson';

@AdminController('audit-logs')
@Refusals()
export class AuditLogsController {
  constructor(
    private readonly logs: AuditLogsService,
    private readonly chain: ChainVerification,
  ) {}

  @Get()
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({
    summary: 'List audit records',
    description: 'Returns changes with the values before and after them. Secrets are masked.',
  })
  @ApiOkResponse({ type: AuditLogListDto })
  async list(@Caller() caller: Principal, @Query() query: ListAuditLogsQuery): Promise<AuditLogListDto> {
    const conditions = conditionsOf(caller, query);
    return AuditLogListDto.from(...(await this.logs.list(reachOf(caller), conditions, pageOf(query))));
  }

  @Get('verify')
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({
    summary: 'Verify the audit log',
    description: 'Recomputes the hashes of a part of the chain. Continue with `next_after` until it is null.',
  })
  @ApiOkResponse({ type: ChainReportDto })
  async verify(
    @Caller() { organizationId }: Principal,
    @Query() { after }: VerifyAuditLogsQuery,
  ): Promise<ChainReportDto> {
    return ChainReportDto.from(await this.chain.check(organizationId, after));
  }

  @Get('export')
  @Recorded()
  @RequireScope('audit_logs.list', 'administrators')
  @RequireStepUp()
  @Header('content-disposition', 'attachment; filename="audit-log.jsonl"')
  @ApiOperation({
    summary: 'Export audit records as JSON Lines',
    description: 'Returns the records as JSON Lines, oldest first.',
  })
  @ApiProduces(JSON_LINES)
  @ApiOkResponse({ schema: { type: 'string', description: 'One record a line' } })
  export(@Caller() caller: Principal, @Query() query: AuditFilterQuery): StreamableFile {
    const lines = this.logs.lines(reachOf(caller), conditionsOf(caller, query));
    return new StreamableFile(Readable.from(lines), { type: JSON_LINES });
  }
}

function conditionsOf(caller: Principal, query: AuditFilterQuery) {
  checkOrganization(caller, query.organisation_id);
  return auditConditions(query);
}
