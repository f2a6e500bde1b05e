import { Injectable } from '@nestjs/common';
import {
  EXPORT_FIELDS,
  type ExportColumn,
  type ExportedMessage,
  type ExportedRequest,
  type ExportField,
  isExportField,
} from '../../admin/log-exports/export-fields.js';
import type { LogRow } from '../../request-log/reading/log-row.js';
import { LogRows, positionBefore } from '../../admin/logs/rows/log-rows.js';
import { RequestParts } from '../../admin/logs/request-parts.js';
import { StoredBodies } from '../../admin/logs/stored-bodies.js';
import { readableBody } from '../../admin/logs/readable-body.js';
import { conditionsIn, oldestOf } from '../../request-log/reading/filter-document.js';
import { AppError } from '../../common/errors/app-error.js';
import { KeptLogs } from '../../request-log/reading/kept-logs.js';
import type { QueryCondition } from '../../request-log/reading/log-filters.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ClaimedExport, ExportProgress } from './export-lease.js';

/** A column of the file. */
export interface Column extends ExportField {
  readonly name: string;
}

/** Rows for the file, and where the next step begins. */
export interface ExportStep {
  readonly requests: readonly ExportedRequest[];
  readonly after: ExportProgress['after'];
  readonly isLast: boolean;
}

/** Bodies of a request have 640 KiB at most, so a step holds some 30 MiB at most; two steps are held at once. */
const ROWS_WITH_MESSAGES = 50;
/** Large enough that the fixed cost of a step (permission check, two commits, a synced write) does not matter. */
const ROWS_WITHOUT = 10_000;
/** The columns to find a request's messages, and whether they are still kept. */
const OF_MESSAGES = ['id', 'at', 'created_at', 'organisation_id', 'workspace_id'] as const;

export const exportColumns = ({ requestedData }: Pick<ClaimedExport, 'requestedData'>): readonly Column[] =>
  requestedData.filter(isExportField).map((name) => ({ name, ...EXPORT_FIELDS[name] }));

/** Reads the rows of an export, step by step, with its own organization as tenant: the database shows no other rows. */
@Injectable()
export class ExportRows {
  constructor(
    private readonly rows: LogRows,
    private readonly parts: RequestParts,
    private readonly kept: KeptLogs,
    private readonly unitOfWork: UnitOfWork,
    private readonly bodies: StoredBodies,
  ) {}

  /** `own` limits the rows to what the user who started the export may see now. */
  step(
    claimed: ClaimedExport,
    after: ExportProgress['after'],
    own: readonly QueryCondition[],
  ): Promise<ExportStep> {
    const { organizationId, workspaceId, filters, until } = claimed;
    const hasMessages = exportColumns(claimed).some(({ isMessage }) => isMessage === true);
    const oldest = oldestOf(filters);
    const from = after ?? (oldest && positionBefore(oldest));
    const size = hasMessages ? ROWS_WITH_MESSAGES : ROWS_WITHOUT;
    return this.unitOfWork.runFor({ organizationId, isReading: true }, async () => {
      const reach = { organizationId, workspaceId };
      const conditions = [...own, ...conditionsIn(filters), ...(await this.kept.conditions(reach))];
      const { rows, end, isLast } = await this.rows.step(reach, {
        columns: readFor(claimed),
        conditions,
        after: from,
        until,
        size,
      });
      const withBodies = hasMessages ? await this.kept.withBodies(rows) : [];
      const stored = withBodies.length > 0 ? await this.parts.bodiesOfAll(withBodies) : [];
      const messages = await this.bodies.brought(organizationId, stored);
      return { requests: await exported(rows, messages), after: end ?? after, isLast };
    });
  }
}

type ExportedLogRow = Pick<LogRow, ExportColumn | (typeof OF_MESSAGES)[number]>;

/** The columns that an export's fields are computed from, without duplicates and never empty. */
function readFor(claimed: ClaimedExport): readonly (keyof ExportedLogRow)[] {
  const fields = exportColumns(claimed);
  const messages = fields.some(({ isMessage }) => isMessage === true) ? OF_MESSAGES : [];
  return [...new Set(['id' as const, ...messages, ...fields.flatMap(({ columns }) => columns)])];
}

type Messages = Awaited<ReturnType<RequestParts['bodiesOfAll']>>;
type StoredMessage = Messages[number];

async function exported(rows: readonly ExportedLogRow[], messages: Messages): Promise<ExportedRequest[]> {
  const byKey = new Map(messages.map((each) => [`${each.request_id} ${each.direction}`, each]));
  if (messages.length === 0) return rows.map((row) => ({ row, request: NO_MESSAGE, response: NO_MESSAGE }));
  const requests: ExportedRequest[] = [];
  for (const row of rows)
    requests.push({
      row,
      request: await messageOf(byKey.get(`${row.id} request`)),
      response: await messageOf(byKey.get(`${row.id} response`)),
    });
  return requests;
}

const NO_MESSAGE: ExportedMessage = { headers: {}, body: null };

async function messageOf(stored: StoredMessage | undefined): Promise<ExportedMessage> {
  if (stored?.is_out_of_reach === true)
    throw new AppError('conflict', {
      detail: `The ${stored.direction} body of the request ${stored.request_id} is no longer in object storage. Choose other requests, or leave out the fields "request" and "response".`,
    });
  const { body } = await readableBody(stored);
  return { headers: stored?.headers ?? {}, body };
}
