import { createReadStream } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { FieldType } from '../../admin/log-exports/export-fields.js';
import type { Column } from './export-rows.js';

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type Element = Omit<Schema[number], 'name'>;

/** Rows that are held at once end with either of these. */
const ROWS_PER_GROUP = 5_000;
const TEXT_PER_GROUP = 16 * 1024 * 1024;

const TEXT: Element = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' };

/** https://parquet.apache.org/docs/file-format/types/logicaltypes/ */
const ELEMENTS: Readonly<Record<FieldType, Element>> = {
  text: TEXT,
  json: TEXT,
  whole: { type: 'INT64', repetition_type: 'OPTIONAL' },
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  truth: { type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'OPTIONAL' },
};

const VALUES: Readonly<Record<FieldType, (value: unknown) => unknown>> = {
  text: (value) => value,
  json: (value) => JSON.stringify(value),
  whole: (value) => BigInt(value as number),
  number: (value) => value,
  truth: (value) => value,
  time: (value) => new Date(value as string),
};

type Line = Readonly<Record<string, unknown>>;

/** Makes a Parquet file of a finished file of JSON Lines, in groups of rows. It is there when it is whole, and not before. */
export async function parquetOf(lines: string, target: string, columns: readonly Column[]): Promise<void> {
  const unfinished = `${target}.part`;
  await writeFile(unfinished, '', { mode: 0o600 });
  const root = { name: 'root', num_children: columns.length };
  const schema: Schema = [root, ...columns.map(({ name, type }) => ({ name, ...ELEMENTS[type] }))];
  const writer = new ParquetWriter({ writer: fileWriter(unfinished), schema });
  for await (const group of groupsIn(lines))
    await writer.write({
      rowGroupSize: group.length,
      columnData: columns.map(({ name, type }) => ({
        name,
        data: group.map((line) => cell(type, line[name])),
      })),
    });
  await writer.finish();
  await rename(unfinished, target);
  await rm(lines, { force: true });
}

const cell = (type: FieldType, value: unknown): unknown =>
  value === null || value === undefined ? null : VALUES[type](value);

async function* groupsIn(path: string): AsyncGenerator<readonly Line[]> {
  let group: Line[] = [];
  let size = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    group.push(JSON.parse(text) as Line);
    size += text.length;
    if (group.length < ROWS_PER_GROUP && size < TEXT_PER_GROUP) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}
