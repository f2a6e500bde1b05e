import {
  EXPORT_FIELDS,
  type ExportedMessage,
  type ExportedRequest,
  type ExportField,
  isExportField,
} from '../../admin/log-exports/export-fields.js';
import type { LogRow } from '../../common/database/log-reading/log-row.js';
import type { LogRows } from '../../admin/logs/log-rows.js';
import { type BodyRow, positionBefore } from '../../admin/logs/log-rows.js';
import { readableBody } from '../../admin/logs/readable-body.js';
import { conditionsIn, oldestOf } from '../../common/database/log-reading/filter-document.js';
import type { KeptLogs } from '../../common/database/log-reading/kept-logs.js';
import type { Condition } from '../../common/database/log-reading/log-filters.js';
import type { UnitOfWork } from '../../common/database/unit-of-work.js';
import type { ClaimedExport, Progress } from './export-lease.js';

/** A column of the file. */
export interface Column extends ExportField {
  readonly name: string;
}

/** Some rows for the file, and where the step after them begins. */
export interface ExportStep {
  readonly requests: readonly ExportedRequest[];
  readonly after: Progress['after'];
  readonly isLast: boolean;
}

/** Bodies of a request are 640 KiB at most, so a step holds some 30 MiB at most. */
const ROWS_WITH_MESSAGES = 50;
const ROWS_WITHOUT = 2_000;

export const columnsOf = ({ requestedData }: Pick<ClaimedExport, 'requestedData'>): readonly Column[] =>
  requestedData.filter(isExportField).map((name) => ({ name, ...EXPORT_FIELDS[name] }));

/** Reads what an export wants, step by step, as its own organization: the database shows it no other rows. */
export class ExportRows {
  constructor(
    private readonly rows: LogRows,
    private readonly kept: KeptLogs,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** `own` narrows what is wanted to what whoever started it may see now. */
  step(wanted: ClaimedExport, after: Progress['after'], own: readonly Condition[]): Promise<ExportStep> {
    const { organizationId, workspaceId, filters, until } = wanted;
    const hasMessages = columnsOf(wanted).some(({ isMessage }) => isMessage === true);
    const oldest = oldestOf(filters);
    const from = after ?? (oldest && positionBefore(oldest));
    const size = hasMessages ? ROWS_WITH_MESSAGES : ROWS_WITHOUT;
    return this.unitOfWork.runFor({ organizationId, isReading: true }, async () => {
      const reach = { organizationId, workspaceId };
      const conditions = [...own, ...conditionsIn(filters), ...(await this.kept.conditions(reach))];
      const { rows, end, isLast } = await this.rows.step(reach, { conditions, after: from, until, size });
      const withBodies = hasMessages ? await this.kept.withBodies(rows) : [];
      const messages = withBodies.length > 0 ? await this.rows.bodiesOfAll(withBodies) : [];
      return { requests: await exported(rows, messages), after: end ?? after, isLast };
    });
  }
}

type Messages = Awaited<ReturnType<LogRows['bodiesOfAll']>>;

async function exported(rows: readonly LogRow[], messages: Messages): Promise<ExportedRequest[]> {
  const byKey = new Map(messages.map((each) => [`${each.request_id} ${each.direction}`, each]));
  const requests: ExportedRequest[] = [];
  for (const row of rows)
    requests.push({
      row,
      request: await messageOf(byKey.get(`${row.id} request`)),
      response: await messageOf(byKey.get(`${row.id} response`)),
    });
  return requests;
}

async function messageOf(stored: BodyRow | undefined): Promise<ExportedMessage> {
  const { body } = await readableBody(stored);
  return { headers: stored?.headers ?? {}, body };
}
