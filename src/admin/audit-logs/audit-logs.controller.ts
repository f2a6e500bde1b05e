import { Readable } from 'node:stream';
import { applyDecorators, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import { Caller, Recorded, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { type ListQuery, pageOf, parameterOf } from '../../common/http/page.js';
import { parameterError } from '../../common/errors/field-errors.js';
import { AdminController } from '../admin-controller.js';
import { checkOrganization } from '../own-organization.js';
import { PagedQuery, QueryParameter, Refusals } from '../openapi/decorators.js';
import { AUDIT_FILTERS, auditConditions } from './audit-filters.js';
import { AuditLogListDto } from './audit-log.dto.js';
import { AuditLogsService } from './audit-logs.service.js';
import { ChainReportDto } from './chain-report.dto.js';
import { ChainVerification } from '../audit/chain-verification.service.js';

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
  constructor(
    private readonly logs: AuditLogsService,
    private readonly chain: ChainVerification,
  ) {}

  @Get()
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({ summary: 'List audit records' })
  @AuditFilters()
  @PagedQuery()
  @ApiOkResponse({ type: AuditLogListDto })
  async list(@Caller() caller: Principal, @Query() query: ListQuery): Promise<AuditLogListDto> {
    const conditions = conditionsOf(caller, query);
    return AuditLogListDto.from(...(await this.logs.list(reachOf(caller), conditions, pageOf(query))));
  }

  @Get('verify')
  @RequireScope('audit_logs.list', 'administrators')
  @ApiOperation({ summary: 'Verify the audit log' })
  @QueryParameter({
    name: 'after',
    required: false,
    schema: { type: 'integer', minimum: 0, default: 0 },
    description: 'Number of the record that the part follows: `next_after` of the part before',
  })
  @ApiOkResponse({ type: ChainReportDto })
  async verify(@Caller() { organizationId }: Principal, @Query() query: ListQuery): Promise<ChainReportDto> {
    return ChainReportDto.from(await this.chain.check(organizationId, afterOf(query)));
  }

  @Get('export')
  @Recorded()
  @RequireScope('audit_logs.list', 'administrators')
  @RequireStepUp()
  @Header('content-disposition', 'attachment; filename="audit-log.jsonl"')
  @ApiOperation({ summary: 'Export audit records as JSON Lines' })
  @AuditFilters()
  @ApiProduces(JSON_LINES)
  @ApiOkResponse({ schema: { type: 'string', description: 'One record a line' } })
  export(@Caller() caller: Principal, @Query() query: ListQuery): StreamableFile {
    const lines = this.logs.lines(reachOf(caller), conditionsOf(caller, query));
    return new StreamableFile(Readable.from(lines), { type: JSON_LINES });
  }
}

function afterOf(query: ListQuery): number {
  const text = parameterOf(query, 'after') ?? '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw parameterError('after', 'must be a whole number of zero or more');
}

function conditionsOf(caller: Principal, query: ListQuery) {
  checkOrganization(caller, parameterOf(query, 'organisation_id'));
  return auditConditions(query);
}
