import { createReadStream } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { ExportedRequest } from '../../admin/log-exports/export-fields.js';
import type { ExportType } from '../../request-log/columns/log-column.js';
import type { Column } from './export-rows.js';

type ParquetSchema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type ParquetElement = Omit<ParquetSchema[number], 'name'>;

/** Pieces are combined up to either limit. */
const ROWS_PER_GROUP = 10_000;
const TEXT_PER_GROUP = 16 * 1024 * 1024;

const TEXT: ParquetElement = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' };

/** https://parquet.apache.org/docs/file-format/types/logicaltypes/ */
const ELEMENTS: Readonly<Record<ExportType, ParquetElement>> = {
  text: TEXT,
  json: TEXT,
  whole: { type: 'INT64', repetition_type: 'OPTIONAL' },
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  truth: { type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'OPTIONAL' },
};

/** A column's values, one for each row. */
type ParquetValues = readonly unknown[];

/** Converts values to ones that JSON can hold until the file is made, where necessary. */
const KEPT: Partial<Readonly<Record<ExportType, (value: unknown) => unknown>>> = {
  json: (value) => JSON.stringify(value),
  time: (value) => Date.parse(value as string),
};

const asBigInt = (value: unknown): bigint => BigInt(value as number);
const WRITTEN: Partial<Readonly<Record<ExportType, (value: unknown) => unknown>>> = {
  whole: asBigInt,
  time: asBigInt,
};

/** JSON leaves them unescaped, and some versions of Node treat them as line ends. */
const UNICODE_LINE_END = /[\u2028\u2029]/g;

/**
 * Parquet cannot be written in pieces: its footer lists all offsets. Until then requests are kept as lines, each with the values of all
 * columns for some rows.
 */
export function columnsPiece(columns: readonly Column[], requests: readonly ExportedRequest[]): string {
  if (requests.length === 0) return '';
  const piece = JSON.stringify(columns.map(({ type, of }) => through(KEPT[type], requests.map(of))));
  return `${piece.replaceAll(UNICODE_LINE_END, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))}\n`;
}

/** Converts a finished file of such pieces to Parquet, in row groups. The file appears only once it is complete. */
export async function parquetOf(pieces: string, target: string, columns: readonly Column[]): Promise<void> {
  const unfinished = `${target}.part`;
  await writeFile(unfinished, '', { mode: 0o600 });
  const root = { name: 'root', num_children: columns.length };
  const schema: ParquetSchema = [root, ...columns.map(({ name, type }) => ({ name, ...ELEMENTS[type] }))];
  const writer = new ParquetWriter({ writer: fileWriter(unfinished), schema });
  for await (const group of groupsIn(pieces))
    await writer.write({
      rowGroupSize: rowsOf(group),
      columnData: columns.map(({ name, type }, at) => ({
        name,
        data: through(WRITTEN[type], group[at] as ParquetValues) as unknown[],
      })),
    });
  await writer.finish();
  await rename(unfinished, target);
  await rm(pieces, { force: true });
}

function through(change: ((value: unknown) => unknown) | undefined, values: ParquetValues): ParquetValues {
  return change
    ? values.map((value) => (value === null || value === undefined ? null : change(value)))
    : values;
}

const rowsOf = (group: readonly ParquetValues[]): number => group[0]?.length ?? 0;

async function* groupsIn(path: string): AsyncGenerator<readonly ParquetValues[]> {
  let group: readonly ParquetValues[] = [];
  let size = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const piece = JSON.parse(text) as readonly ParquetValues[];
    size += text.length;
    if (rowsOf(group) > 0 && (rowsOf(group) + rowsOf(piece) > ROWS_PER_GROUP || size > TEXT_PER_GROUP)) {
      yield group;
      group = [];
      size = text.length;
    }
    group = rowsOf(group) === 0 ? piece : group.map((values, at) => values.concat(piece[at] ?? []));
  }
  if (rowsOf(group) > 0) yield group;
}
