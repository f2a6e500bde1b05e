import { Readable } from 'node:stream';
import { applyDecorators, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { type ListQuery, pageOf, parameterOf } from '../../common/database/page.js';
import { AdminController } from '../admin-controller.js';
import { checkOrganization } from '../own-organization.js';
import { PagedQuery, QueryParameter, Refusals } from '../openapi/decorators.js';
import { AUDIT_FILTERS, auditConditions } from './audit-filters.js';
import { AuditLogListDto } from './audit-log.dto.js';
import { AuditLogsService } from './audit-logs.service.js';

const JSON_LINES = 'application/x-ndjson';

/** The filters, for the OpenAPI document. */
const AuditFilters = (): MethodDecorator =>
  applyDecorators(
    QueryParameter({
      name: 'organisation_id',
      required: false,
      type: String,
      description: "The caller's own",
    }),
    ...Object.entries(AUDIT_FILTERS).map(([name, { expects }]) =>
      QueryParameter({ name, required: false, type: String, description: `Must be ${expects}.` }),
    ),
  );

@AdminController('audit-logs')
@Refusals()
export class AuditLogsController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({ summary: 'List who changed what, newest first' })
  @AuditFilters()
  @PagedQuery()
  @ApiOkResponse({ type: AuditLogListDto })
  async list(@Caller() caller: Principal, @Query() query: ListQuery): Promise<AuditLogListDto> {
    const conditions = conditionsOf(caller, query);
    return AuditLogListDto.from(...(await this.logs.list(reachOf(caller), conditions, pageOf(query))));
  }

  @Get('export')
  @RequireScope('audit_logs.list', 'administrators')
  @Header('content-disposition', 'attachment; filename="audit-log.jsonl"')
  @ApiOperation({ summary: 'Download who changed what as JSON Lines, oldest first' })
  @AuditFilters()
  @ApiProduces(JSON_LINES)
  @ApiOkResponse({ schema: { type: 'string', description: 'One record a line' } })
  export(@Caller() caller: Principal, @Query() query: ListQuery): StreamableFile {
    const lines = this.logs.lines(reachOf(caller), conditionsOf(caller, query));
    return new StreamableFile(Readable.from(lines), { type: JSON_LINES });
  }
}

function conditionsOf(caller: Principal, query: ListQuery) {
  checkOrganization(caller, parameterOf(query, 'organisation_id'));
  return auditConditions(query);
}
