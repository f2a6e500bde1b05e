import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExportedRequest } from '../../admin/log-exports/export-fields.js';
import type { ExportType } from '../../request-log/columns/log-column.js';
import type { Column } from './export-rows.js';
import { columnsPiece, parquetOf } from './parquet.js';

describe('a Parquet file of pieces', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'gatehouse-parquet-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Fields that return the value of the same name from requests, which are plain maps here. */
  const columns = Object.entries({
    text: 'text',
    json: 'json',
    whole: 'whole',
    number: 'number',
    truth: 'truth',
    time: 'time',
  } satisfies Record<string, ExportType>).map(([name, type]): Column => ({
    name,
    type,
    columns: [],
    of: (request) => (request as unknown as Record<string, unknown>)[name],
  }));
  const requests = (rows: readonly object[]) => rows as unknown as readonly ExportedRequest[];
  const AT = '2026-01-31T23:59:59.999Z';

  async function written(pieces: readonly (readonly object[])[]) {
    const growing = join(folder, 'growing');
    const target = join(folder, 'whole.parquet');
    writeFileSync(growing, pieces.map((rows) => columnsPiece(columns, requests(rows))).join(''));
    await parquetOf(growing, target, columns);
    const file = await asyncBufferFromFile(target);
    const { row_groups } = await parquetMetadataAsync(file);
    return {
      rows: await parquetReadObjects({ file }),
      groups: row_groups.map(({ num_rows }) => Number(num_rows)),
    };
  }

  it('has every value as it was, whatever its type, and null where there was none', async () => {
    const full = {
      text: 'a "quoted"\nline\u2028\u2029 \u{1F600}',
      json: { a: ['\n', null] },
      whole: 2 ** 40,
      number: 0.1,
      truth: false,
      time: AT,
    };
    const none = { text: null, json: null, whole: null, number: null, truth: null, time: null };
    const { rows } = await written([[full, none, {}]]);
    const read = { ...full, json: JSON.stringify(full.json), whole: 2n ** 40n, time: new Date(AT) };
    expect(rows).toEqual([read, none, none]);
  });

  it('has all rows in their order, in groups that are neither tiny nor larger than memory should hold', async () => {
    const from = (first: number, count: number, text = '') =>
      Array.from({ length: count }, (_, at) => ({ whole: first + at, text: `${first + at} ${text}` }));
    const long = 'x'.repeat(900 * 1024);
    const { rows, groups } = await written([
      from(1, 50),
      from(51, 50),
      [],
      from(101, 6_000),
      from(6_101, 4_000),
      from(10_101, 10, long),
      from(10_111, 10, long),
      from(10_121, 10_000),
    ]);
    expect(rows.map(({ whole }) => Number(whole))).toEqual(Array.from({ length: 20_120 }, (_, at) => at + 1));
    expect(groups).toEqual([6_100, 4_010, 10, 10_000]);
  });

  it('keeps the rows of a piece on one line, whatever counts as the end of one', () => {
    const piece = columnsPiece(columns, requests([{ text: 'a\n\r\u2028\u2029b', json: ['\u2028'] }]));
    expect(piece.split(/[\n\r\u2028\u2029]/)).toHaveLength(2);
  });

  it('is a file that readers take where there is no row at all', async () => {
    expect(await written([[]])).toEqual({ rows: [], groups: [] });
  });

  it('leaves nothing but itself', async () => {
    await written([[{ whole: 1 }]]);
    expect(readdirSync(folder)).toEqual(['whole.parquet']);
  });
});
