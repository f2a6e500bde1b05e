import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { FastifyRequest } from 'fastify';
import { IdentityService } from '../../auth/identity/identity.service.js';
import { CurrentRights } from '../../auth/ports.js';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import { reachOf } from '../../auth/tenant.js';
import { exportFile, exportObject, exportExtension } from '../../request-log/log-export.js';
import { ExportLinks } from '../../common/crypto/export-links.js';
import { LogExport } from './log-export.entity.js';
import type { LogExportLinkQuery } from './log-export.dto.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import { baseUrl } from '../../common/settings/base-url.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { LogExportsService, reachOfExports } from './log-exports.service.js';

const TYPES: Readonly<Record<LogExport['format'], string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

export interface Download {
  readonly stream: Readable;
  readonly type: string;
  readonly length: number;
  /** File name for browsers. */
  readonly name: string;
}

const EXPORTING = 'logs.export';

/** Delivers files of exports: with a key, or with a link whose creator may still export. */
@Injectable()
export class ExportDownloads {
  constructor(
    private readonly exports: LogExportsService,
    private readonly links: ExportLinks,
    private readonly rights: CurrentRights,
    private readonly identity: IdentityService,
    @InjectRepository(LogExport) private readonly logExports: Repository<LogExport>,
    @Inject(ObjectStore) private readonly bucket: ObjectStore | null,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** A link that needs no key, for 15 minutes. Its creator must be allowed to export when it is used, too. */
  linkTo(caller: Principal, { id }: LogExport): string {
    const by =
      caller.apiKeyId === null
        ? (['user', caller.userId ?? ''] as const)
        : (['key', caller.apiKeyId] as const);
    return `${baseUrl(this.settings, this.settings.port)}/v1/logs/exports/${id}/file?${this.links.queryFor(id, by)}`;
  }

  async open(request: FastifyRequest, id: string, query: LogExportLinkQuery): Promise<Download> {
    const row = query.signature !== undefined ? await this.byLink(id, query) : await this.byKey(request, id);
    const file = (await this.inBucket(row)) ?? (await this.inFolder(row));
    return {
      ...file,
      type: row.compression === 'gzip' ? 'application/gzip' : TYPES[row.format],
      name: `logs-${row.id}.${exportExtension(row)}`,
    };
  }

  /** Null when the file is not there; it may have been written under other settings. */
  private async inBucket(row: LogExport): Promise<Pick<Download, 'stream' | 'length'> | null> {
    if (!this.bucket || this.settings.exports.store !== 's3') return null;
    try {
      return await this.bucket.stream(exportObject(row, row));
    } catch (cause) {
      throw new AppError('bucket_unavailable', {}, { cause });
    }
  }

  private async inFolder(row: LogExport): Promise<Pick<Download, 'stream' | 'length'>> {
    const path = exportFile(this.settings.exports.folder, row);
    try {
      const handle = await open(path, 'r');
      const { size } = await handle.stat();
      return { stream: createReadStream(path, { fd: handle }), length: size };
    } catch (cause) {
      throw new AppError('not_found', { resource: 'file of a log export' }, { cause });
    }
  }

  private async byKey(request: FastifyRequest, id: string): Promise<LogExport> {
    const caller = await this.identity.identify(request.raw);
    requireScope(caller, EXPORTING);
    return this.exports.finished(reachOfExports(caller, reachOf(caller)), id);
  }

  /** For any invalid link, the response is that the file does not exist. */
  private async byLink(id: string, query: LogExportLinkQuery): Promise<LogExport> {
    const link = isUuid(id) ? this.links.read(id, query) : null;
    const row = link && (await this.logExports.findOneBy({ id }));
    if (!link || !row) throw new AppError('not_found', { resource: 'file of a log export' });
    const { organizationId, workspaceId } = row;
    const [kind, by] = link.by;
    const actor = {
      organizationId,
      workspaceId,
      apiKeyId: kind === 'key' ? by : null,
      userId: kind === 'user' ? by : null,
    };
    const rights = await this.rights.of(actor);
    if (!rights?.scopes.has(EXPORTING)) throw new AppError('not_found', { resource: 'file of a log export' });
    return this.exports.finished(reachOfExports(rights, { organizationId, workspaceId }), id);
  }
}
