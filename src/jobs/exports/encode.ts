import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ExportedRequest } from '../../admin/log-exports/export-fields.js';
import type { ExportFormat } from '../../request-log/log-export.js';
import { csvRecord } from './csv.js';
import type { Column } from './export-rows.js';
import { columnsPiece } from './parquet.js';

const compress = promisify(gzip);

/** Encodes requests as a piece of a file. The file is the concatenation of its pieces; `isFirst` marks the first one. */
type Encode = (columns: readonly Column[], requests: readonly ExportedRequest[], isFirst: boolean) => string;

const jsonLines: Encode = (columns, requests) => {
  let lines = '';
  for (const request of requests) {
    // Filled property by property, all lines have the same hidden class and no entry pairs are allocated.
    const line: Record<string, unknown> = {};
    for (const { name, of } of columns) line[name] = of(request);
    lines += `${JSON.stringify(line)}\n`;
  }
  return lines;
};

const csv: Encode = (columns, requests, isFirst) => {
  let lines = isFirst ? csvRecord(columns.map(({ name }) => name)) : '';
  for (const request of requests) lines += csvRecord(columns.map((column) => cellOf(column, request)));
  return lines;
};

function cellOf({ type, of }: Column, request: ExportedRequest): string {
  const value = of(request);
  if (value === null || value === undefined) return '';
  return type !== 'json' && typeof value === 'string' ? value : JSON.stringify(value);
}

const ENCODERS: Readonly<Record<ExportFormat, Encode>> = { jsonl: jsonLines, csv, parquet: columnsPiece };

/** Each compressed piece is a complete file, and concatenated gzip files are one file: RFC 1952, section 2.2. */
export async function encodePiece(
  {
    format,
    compression,
    columns,
  }: { format: ExportFormat; compression: 'none' | 'gzip'; columns: readonly Column[] },
  requests: readonly ExportedRequest[],
  isFirst: boolean,
): Promise<Buffer> {
  const piece = Buffer.from(ENCODERS[format](columns, requests, isFirst));
  return compression === 'gzip' && (piece.length > 0 || isFirst) ? compress(piece) : piece;
}
