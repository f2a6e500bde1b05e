import { Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { visibilityOf, withVisibility } from '../../auth/permissions/visibility.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { LogDetailDto } from './log-detail.dto.js';
import type { LogRow } from '../../request-log/reading/log-row.js';
import { ListLogsQuery } from './log-query.dto.js';
import { logQueryOf } from './rows/log-query.js';
import { LogDto, LogListDto } from './log.dto.js';
import { LogsService } from './logs.service.js';
import { BodySearch, type SearchedPage } from './search/body-search.js';
import { ReadTraceQuery, TraceDto } from './trace.dto.js';

@AdminController('logs')
@Refusals()
export class LogsController {
  constructor(
    private readonly logs: LogsService,
    private readonly workspaces: WorkspaceFinder,
    private readonly search: BodySearch,
  ) {}

  @Get()
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'List requests',
    description:
      'Returns requests that match all filters, a page at a time. Bodies are in the single record.',
  })
  @ApiOkResponse({ type: LogListDto })
  async list(@Caller() caller: Principal, @Query() query: ListLogsQuery): Promise<LogListDto> {
    const logQuery = logQueryOf(query, visibilityOf(caller));
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    if (query.search !== undefined)
      return this.found(caller, await this.search.find(caller, reach, { logQuery, query }));
    const [rows, nextCursor] = await this.logs.list(reach, logQuery);
    return LogListDto.from(
      await this.shown(caller, rows),
      nextCursor,
      logQuery.includesTotal ? await this.logs.count(reach, logQuery) : undefined,
    );
  }

  @Get('traces/:traceId')
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'Read a trace',
    description: 'Returns the requests of a trace as a tree, by their span ids.',
  })
  @ApiOkResponse({ type: TraceDto })
  async trace(
    @Caller() caller: Principal,
    @Param('traceId') traceId: string,
    @Query() query: ReadTraceQuery,
  ): Promise<TraceDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return TraceDto.from(await this.logs.trace({ ...reach, own: visibilityOf(caller) }, traceId));
  }

  @Get(':id')
  @RequireScope('logs.view')
  @ApiOperation({
    summary: 'Read a request',
    description:
      'Returns the record with its attempts, its routing decisions, and its bodies as far as they are kept.',
  })
  @ApiOkResponse({ type: LogDetailDto })
  async get(@Caller() caller: Principal, @Param('id') id: string): Promise<LogDetailDto> {
    return LogDetailDto.of(await this.logs.get(withVisibility(caller), id));
  }

  private async found(caller: Principal, { rows, nextCursor, searched }: SearchedPage): Promise<LogListDto> {
    return LogListDto.from(await this.shown(caller, rows), nextCursor, { searched_rows: searched });
  }

  private async shown(caller: Principal, rows: readonly LogRow[]): Promise<LogDto[]> {
    const previews = await this.logs.previews(caller, rows);
    const names = await this.logs.keyNames(caller, rows);
    return rows.map((row) => {
      const api_key_name = names.get(row.api_key_id ?? '') ?? null;
      return LogDto.from(row, { api_key_name, ...previews.get(row.id) });
    });
  }
}
