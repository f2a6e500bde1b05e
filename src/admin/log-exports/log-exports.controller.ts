import { Body, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AuditedAs, Caller, Recorded, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { ExportDownloads } from './export-downloads.js';
import {
  CreateLogExportDto,
  ExportRestrictionsDto,
  LogExportAnswerDto,
  LogExportDto,
  LogExportLinkDto,
  LogExportListDto,
  LogExportTaskDto,
  UpdateLogExportDto,
} from './log-export.dto.js';
import { ExportRestrictions } from './export-restrictions.service.js';
import { LogExportsService, reachOfExports } from './log-exports.service.js';

@AdminController('logs/exports')
@Refusals()
export class LogExportsController {
  constructor(
    private readonly exports: LogExportsService,
    private readonly downloads: ExportDownloads,
    private readonly workspaces: WorkspaceFinder,
    private readonly restrictions: ExportRestrictions,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('logs.export')
  @AuditedAs('log_exports.create')
  @ApiOperation({
    summary: 'Create the draft of an export',
    description: 'Saves filters and fields as a draft. Start it to write the file.',
  })
  @ApiOkResponse({ type: LogExportAnswerDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateLogExportDto): Promise<LogExportAnswerDto> {
    const [{ id }, total] = await this.exports.create(caller, dto);
    return LogExportAnswerDto.from(id, total);
  }

  @Get()
  @RequireScope('logs.export')
  @ApiOperation({ summary: 'List exports', description: 'Returns exports with their state, newest first.' })
  @ApiOkResponse({ type: LogExportListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<LogExportListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return LogExportListDto.from(...(await this.exports.list(reachOfExports(caller, reach), pageOf(query))));
  }

  @Get('field-restrictions')
  @RequireScope('logs.export')
  @ApiOperation({
    summary: 'Read which fields exports may not contain',
    description: 'Returns the fields that the organization excludes from exports.',
  })
  @ApiOkResponse({ type: ExportRestrictionsDto })
  async fieldRestrictions(@Caller() { organizationId }: Principal): Promise<ExportRestrictionsDto> {
    return ExportRestrictionsDto.from(await this.restrictions.deniedFields(organizationId));
  }

  @Get(':id')
  @RequireScope('logs.export')
  @ApiOperation({
    summary: 'Read an export',
    description: 'Returns the export with its state and how much was written.',
  })
  @ApiOkResponse({ type: LogExportDto })
  async get(@Caller() caller: Principal, @Param('id') id: string): Promise<LogExportDto> {
    return LogExportDto.from(await this.exports.get(reachOfExports(caller, reachOf(caller)), id));
  }

  @Put(':id')
  @RequireScope('logs.export')
  @AuditedAs('log_exports.update')
  @ApiOperation({
    summary: 'Change the draft of an export',
    description: 'Changes the fields that are sent. Only a draft can be changed.',
  })
  @ApiOkResponse({ type: LogExportAnswerDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateLogExportDto,
  ): Promise<LogExportAnswerDto> {
    const [, total] = await this.exports.update(caller, id, dto);
    return LogExportAnswerDto.from(id, total);
  }

  @Post(':id/start')
  @HttpCode(200)
  @RequireScope('logs.export')
  @AuditedAs('log_exports.start')
  @ApiOperation({
    summary: 'Start an export',
    description: 'Writes the file in the background. A failed or stopped export continues where it ended.',
  })
  @ApiOkResponse({ type: LogExportTaskDto })
  async start(@Caller() caller: Principal, @Param('id') id: string): Promise<LogExportTaskDto> {
    await this.exports.start(caller, id);
    return LogExportTaskDto.from('The export was started.');
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @RequireScope('logs.export')
  @AuditedAs('log_exports.cancel')
  @ApiOperation({
    summary: 'Stop an export',
    description: 'Stops writing. The rows written so far are kept.',
  })
  @ApiOkResponse({ type: LogExportTaskDto })
  async cancel(@Caller() caller: Principal, @Param('id') id: string): Promise<LogExportTaskDto> {
    await this.exports.cancel(caller, id);
    return LogExportTaskDto.from('The export was stopped.');
  }

  @Get(':id/download')
  @Recorded()
  @RequireScope('logs.export')
  @AuditedAs('log_exports.download')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Get a link to the file of an export',
    description: 'Returns a link that works for 15 minutes without an API key.',
  })
  @ApiOkResponse({ type: LogExportLinkDto })
  async download(@Caller() caller: Principal, @Param('id') id: string): Promise<LogExportLinkDto> {
    const row = await this.exports.finished(reachOfExports(caller, reachOf(caller)), id);
    this.exports.noteLink(row);
    return LogExportLinkDto.from(this.downloads.linkTo(caller, row));
  }
}
