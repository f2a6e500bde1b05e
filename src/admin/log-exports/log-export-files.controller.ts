import { Get, Param, Query, Req, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { OpenToEverybody, RequireScope } from '../../auth/permissions/access.decorators.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { LogExportLinkQuery } from './log-export.dto.js';
import { ExportDownloads } from './export-downloads.js';

@AdminController('logs/exports')
@Refusals()
export class LogExportFilesController {
  constructor(private readonly downloads: ExportDownloads) {}

  /** Links need no key: the service checks the link, or else the key and this scope. */
  @Get(':id/file')
  @OpenToEverybody()
  @RequireScope('logs.export')
  @ApiOperation({
    summary: 'Download the file of an export',
    description:
      'Returns the file in the format of the export.\n\nA signed link needs no key. It works while its creator may export.',
  })
  @ApiProduces('application/x-ndjson', 'text/csv', 'application/vnd.apache.parquet', 'application/gzip')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  async file(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() query: LogExportLinkQuery,
  ): Promise<StreamableFile> {
    const { stream, type, length, name } = await this.downloads.open(request, id, query);
    return new StreamableFile(stream, { type, length, disposition: `attachment; filename="${name}"` });
  }
}
