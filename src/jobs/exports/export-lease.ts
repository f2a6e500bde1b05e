import type { DataSource } from 'typeorm';
import type { Actor } from '../../auth/ports.js';
import type { LogPosition } from '../../admin/logs/rows/log-cursor.js';
import type { ExportCompression, ExportFormat } from '../../request-log/log-export.js';
import type { FilterDocument } from '../../request-log/reading/filter-document.js';

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
export const LEASE_S = 60;

const CLAIM = `
  UPDATE log_exports SET leased_until = now() + make_interval(secs => ${LEASE_S}), run = run + 1, tries = tries + 1
  WHERE id = $1 AND status = 'in_progress' AND (leased_until IS NULL OR leased_until < now())
  RETURNING id, organization_id AS "organizationId", workspace_id AS "workspaceId", api_key_id AS "apiKeyId",
    user_id AS "userId", filters, requested_data AS "requestedData", format, compression, until_at AS until,
    to_char(cursor_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS cursor_at, cursor_id,
    rows::float8 AS rows, bytes::float8 AS bytes, run, tries`;

/** A later claim changes `run` and stopping changes the status: then nothing is written. */
const HELD = "id = $1 AND run = $2 AND status = 'in_progress'";

const ADVANCE = `
  UPDATE log_exports SET leased_until = now() + make_interval(secs => ${LEASE_S}), tries = 0, problem = NULL, updated_at = now(),
    cursor_at = $3::timestamptz, cursor_id = $4, rows = $5, bytes = $6
  WHERE ${HELD} RETURNING id`;

const SUCCEED = `
  UPDATE log_exports SET status = 'success', problem = NULL, leased_until = NULL, updated_at = now(), bytes = $3,
    expires_at = now() + make_interval(days => $4), file_removed_at = NULL
  WHERE ${HELD} RETURNING id`;

const FAIL = `
  UPDATE log_exports SET status = 'failed', problem = $3, leased_until = NULL, updated_at = now()
  WHERE ${HELD} RETURNING id`;

const RENEW = `
  UPDATE log_exports SET leased_until = now() + make_interval(secs => ${LEASE_S}) WHERE ${HELD} RETURNING id`;

const RELEASE = `UPDATE log_exports SET leased_until = NULL WHERE ${HELD} RETURNING id`;

const PAUSE_S = 3;
/** A failure is retried after a delay that grows with the attempts. */
const PAUSE = `
  UPDATE log_exports SET leased_until = now() + make_interval(secs => ${PAUSE_S} * tries), problem = $3, updated_at = now()
  WHERE ${HELD} RETURNING id`;

type HeldExport = Pick<ClaimedExport, 'id' | 'run'>;
type ClaimRow = Omit<ClaimedExport, 'after'> & {
  readonly cursor_at: string | null;
  readonly cursor_id: string;
};

/** The rows of `log_exports`, changed only while the lease is held. */
export class ExportLeases {
  constructor(private readonly database: DataSource) {}

  /** Null when another process has it, or there is nothing left to do. */
  async claim(id: string): Promise<ClaimedExport | null> {
    const [[row]] = await this.database.query<[ClaimRow[], number]>(CLAIM, [id]);
    if (!row) return null;
    const { cursor_at: at, cursor_id, ...claimed } = row;
    return { ...claimed, after: at === null ? null : { at, id: cursor_id } };
  }

  /** False when the lease is lost. The same holds for the other methods. */
  advance(held: HeldExport, { after, rows, bytes }: ExportProgress): Promise<boolean> {
    return this.change(ADVANCE, held, after?.at ?? null, after?.id ?? null, rows, bytes);
  }

  succeed(held: HeldExport, bytes: number, keptDays: number): Promise<boolean> {
    return this.change(SUCCEED, held, bytes, keptDays);
  }

  fail(held: HeldExport, problem: string): Promise<boolean> {
    return this.change(FAIL, held, problem);
  }

  renew(held: HeldExport): Promise<boolean> {
    return this.change(RENEW, held);
  }

  release(held: HeldExport): Promise<boolean> {
    return this.change(RELEASE, held);
  }

  /** `problem` is shown until an attempt succeeds. */
  pause(held: HeldExport, problem: string): Promise<boolean> {
    return this.change(PAUSE, held, problem);
  }

  private async change(sql: string, { id, run }: HeldExport, ...more: readonly unknown[]): Promise<boolean> {
    const [changed] = await this.database.query<[unknown[], number]>(sql, [id, run, ...more]);
    return changed.length > 0;
  }
}
