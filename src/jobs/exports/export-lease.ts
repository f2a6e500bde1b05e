import type { DataSource } from 'typeorm';
import type { Actor } from '../../auth/ports.js';
import type { LogPosition } from '../../admin/logs/rows/log-cursor.js';
import type { ExportCompression, ExportFormat } from '../../request-log/log-export.js';
import type { FilterDocument } from '../../request-log/reading/filter-document.js';
import { type HeldRow, LeasedRows } from '../leased-rows.js';

/** An export whose file this process is writing, and up to where that file is valid. */
export interface ClaimedExport extends Actor {
  readonly id: string;
  readonly filters: FilterDocument;
  readonly requestedData: readonly string[];
  readonly format: ExportFormat;
  readonly compression: ExportCompression;
  readonly until: Date;
  readonly after: LogPosition | null;
  readonly rows: number;
  readonly bytes: number;
  readonly run: number;
  readonly tries: number;
}

/** Progress of the file. */
export interface ExportProgress {
  readonly after: LogPosition | null;
  readonly rows: number;
  readonly bytes: number;
}

/** Longer than a step takes. An export held by a process that died is released after this time. */
export const EXPORT_LEASE_S = 60;

const CLAIMED = `id, organization_id AS "organizationId", workspace_id AS "workspaceId", api_key_id AS "apiKeyId",
    user_id AS "userId", filters, requested_data AS "requestedData", format, compression, until_at AS until,
    to_char(cursor_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS cursor_at, cursor_id,
    rows::float8 AS rows, bytes::float8 AS bytes, run, tries`;

const ADVANCED = `tries = 0, problem = NULL, updated_at = now(),
    cursor_at = $3::timestamptz, cursor_id = $4, rows = $5, bytes = $6`;

const SUCCEEDED = `status = 'success', problem = NULL, leased_until = NULL, updated_at = now(), bytes = $3,
    expires_at = now() + make_interval(days => $4), file_removed_at = NULL`;

type ClaimRow = Omit<ClaimedExport, 'after'> & {
  readonly cursor_at: string | null;
  readonly cursor_id: string;
};

/** The rows of `log_exports`, changed only while the lease is held. */
export class ExportLeases extends LeasedRows {
  constructor(database: DataSource) {
    super(database, { table: 'log_exports', leaseS: EXPORT_LEASE_S });
  }

  /** Null when another process has it, or there is nothing left to do. */
  async claim(id: string): Promise<ClaimedExport | null> {
    const row = await this.claimRow<ClaimRow>(id, CLAIMED);
    if (!row) return null;
    const { cursor_at: at, cursor_id, ...claimed } = row;
    return { ...claimed, after: at === null ? null : { at, id: cursor_id } };
  }

  /** False when the lease is lost. The same holds for the other methods. */
  advance(held: HeldRow, { after, rows, bytes }: ExportProgress): Promise<boolean> {
    const set = `${this.lease}, ${ADVANCED}`;
    return this.change(held, set, after?.at ?? null, after?.id ?? null, rows, bytes);
  }

  succeed(held: HeldRow, bytes: number, keptDays: number): Promise<boolean> {
    return this.change(held, SUCCEEDED, bytes, keptDays);
  }
}
