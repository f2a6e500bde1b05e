import { Get, Param, Query, Req, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { OpenToEverybody } from '../../auth/permissions/access.decorators.js';
import type { ListQuery } from '../../common/database/page.js';
import { AdminController } from '../admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { ExportDownloads } from './export-downloads.js';

const PART_OF_LINK = { required: false, type: String, description: 'Part of a signed link' };

@AdminController('logs/exports')
@Refusals()
export class LogExportFilesController {
  constructor(private readonly downloads: ExportDownloads) {}

  /** Open to everybody for its links; without one it asks for a key by itself. */
  @Get(':id/file')
  @OpenToEverybody()
  @ApiOperation({ summary: 'Download the file of an export, by a signed link or with a key' })
  @ApiQuery({ name: 'expires', ...PART_OF_LINK })
  @ApiQuery({ name: 'by', ...PART_OF_LINK })
  @ApiQuery({ name: 'signature', ...PART_OF_LINK })
  @ApiProduces('application/x-ndjson', 'text/csv', 'application/vnd.apache.parquet', 'application/gzip')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  async file(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() query: ListQuery,
  ): Promise<StreamableFile> {
    const { stream, type, length, name } = await this.downloads.open(request, id, query);
    return new StreamableFile(stream, { type, length, disposition: `attachment; filename="${name}"` });
  }
}
