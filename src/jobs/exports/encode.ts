import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ExportedRequest } from '../../admin/log-exports/export-fields.js';
import type { ExportFormat } from '../../request-log/log-export.js';
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

/** Characters that spreadsheets take for the start of a formula; the last four are the full-width forms of the first. */
const FORMULA = new Set(['=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20']);

/**
 * A CSV record with its line end. Cells that a spreadsheet would take for a formula get a leading apostrophe, and every cell that is not
 * empty is quoted, so that client text cannot start another cell: https://owasp.org/www-community/attacks/CSV_Injection and
 * https://www.rfc-editor.org/rfc/rfc4180
 *
 * Written by hand because a general writer decides for each cell how to write it, which took most of the time.
 */
export function csvRecord(cells: readonly string[]): string {
  // An empty line is not a record: readers skip it.
  if (cells.length === 1 && cells[0] === '') return '""\r\n';
  let record = '';
  let comma = '';
  for (const cell of cells) {
    record += comma + csvCell(cell);
    comma = ',';
  }
  return `${record}\r\n`;
}

function csvCell(text: string): string {
  if (text === '') return '';
  const safe = text.includes('"') ? text.replaceAll('"', '""') : text;
  return FORMULA.has(text.charAt(0)) ? `"'${safe}"` : `"${safe}"`;
}
