import { join } from 'node:path';
import type { ExportType } from './columns/log-column.js';
import { columnsWith, type ColumnsWith } from './columns/log-columns.js';

export const EXPORT_FORMATS = ['jsonl', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_COMPRESSIONS = ['none', 'gzip'] as const;
export type ExportCompression = (typeof EXPORT_COMPRESSIONS)[number];

/** `draft` until it is started; a `failed` or `stopped` export can be started again. */
export const EXPORT_STATUSES = ['draft', 'in_progress', 'success', 'failed', 'stopped'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];

/** The facts that determine an export's file name. The client controls none of them. */
export interface ExportFileFacts {
  readonly id: string;
  readonly format: ExportFormat;
  readonly compression: ExportCompression;
}

/** The file name's extension; Parquet is compressed inside. */
export const exportExtension = ({ format, compression }: Omit<ExportFileFacts, 'id'>): string =>
  compression === 'gzip' ? `${format}.gz` : format;

/** Folder of finished files in the bucket. */
export const EXPORTS = 'exports/';

/** The finished file in the bucket, in its tenant's folders. */
export const exportObject = (
  { organizationId, workspaceId }: { readonly organizationId: string; readonly workspaceId: string },
  facts: ExportFileFacts,
): string => `${EXPORTS}${organizationId}/${workspaceId}/${facts.id}.${exportExtension(facts)}`;

/** The finished file. */
export const exportFile = (folder: string, facts: ExportFileFacts): string =>
  join(folder, `${facts.id}.${exportExtension(facts)}`);

/** Fields under the names of the compatible API (`requested_data`). */
const COMPATIBLE_FIELDS = [
  'created_at',
  'request',
  'response',
  'is_success',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'request_url',
  'cost',
  'cost_currency',
  'response_time',
  'response_status_code',
  'mode',
  'config',
] as const;

export type ExportedColumn = ColumnsWith<{ readonly exported: ExportType }>;
export type CompatibleField = (typeof COMPATIBLE_FIELDS)[number];
export type ExportFieldName = CompatibleField | ExportedColumn;

/** The fields that an export can contain; `EXPORT_FIELDS` describes them. */
export const EXPORT_FIELD_NAMES: readonly ExportFieldName[] = [
  ...columnsWith('exported'),
  ...COMPATIBLE_FIELDS,
];
