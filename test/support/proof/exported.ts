import { jsonOf } from '../http-client.js';
import type { Service } from '../service.js';
import { eventually } from '../waiting.js';
import { type Fact, NANO_PER_CENT, tokensOf } from './facts.js';

type Cells = Readonly<Record<string, unknown>>;

const text = (value: string): string | null => (value === '' ? null : value);

/** Fields of an export, out of a fact. What only the gateway makes (previews, bodies) is not among them. */
export const EXPORTED_BY_HAND: Readonly<Record<string, (fact: Fact) => unknown>> = {
  id: ({ id }) => id,
  trace_id: ({ trace }) => trace,
  created_at: ({ at }) => new Date(at).toISOString(),
  is_success: ({ status }) => status < 400,
  ai_org: ({ provider }) => text(provider),
  ai_model: ({ model }) => text(model),
  req_units: ({ input }) => input,
  res_units: ({ output }) => output,
  total_units: (fact) => (fact.input === null && fact.output === null ? null : tokensOf(fact)),
  cost: ({ cost }) => (cost === null ? null : cost / NANO_PER_CENT),
  cost_currency: () => 'USD',
  response_time: ({ durationMs }) => durationMs,
  response_status_code: ({ status }) => status,
  mode: ({ endpoint }) => text(endpoint) ?? 'proxy',
  prompt_slug: ({ prompt }) => text(prompt),
  metadata: ({ metadata }) => metadata,
  span_id: ({ span }) => text(span),
  api_key_id: ({ keyId }) => text(keyId),
  virtual_key: ({ virtualKey }) => text(virtualKey),
  error_code: ({ errorCode }) => text(errorCode),
  cache_status: ({ cacheStatus }) => text(cacheStatus),
};

const FIELDS = Object.keys(EXPORTED_BY_HAND);

/** Writes an export of a workspace and reads its file. */
export async function exported(
  service: Service,
  key: string,
  format: 'jsonl' | 'csv',
  filters: object,
): Promise<readonly Cells[]> {
  const headers = { 'x-gateway-api-key': key };
  const call = async (method: string, path: string, body?: object) => {
    const answer = await service.client.call({ method, path, headers, ...(body ? { body } : {}) });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
    return answer;
  };
  const draft = await call('POST', '/v1/logs/exports', { filters, requested_data: FIELDS, format });
  const path = `/v1/logs/exports/${String(jsonOf(draft).id)}`;
  await call('POST', `${path}/start`);
  await eventually(async () => jsonOf(await call('GET', path)).status === 'success', { what: 'the export' });
  const file = (await call('GET', `${path}/file`)).body.toString();
  if (format === 'csv') return rowsOfCsv(file);
  return file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Cells);
}

/** As a cell of CSV: what is unknown is empty. Keys of an object have no order, so its text is read again. */
export const inCells = (row: Cells): Cells =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value === null) return [name, ''];
      return [name, typeof value === 'number' || typeof value === 'boolean' ? String(value) : value];
    }),
  );

/** https://www.rfc-editor.org/rfc/rfc4180: cells in quotes may hold commas, line ends, and quotes that are doubled. */
function rowsOfCsv(file: string): readonly Cells[] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of file.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    lines.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end !== ',') lines.push([]);
  }
  const [names = [], ...rows] = lines.filter((cells) => cells.length === FIELDS.length);
  return rows.map((cells) =>
    Object.fromEntries(
      names.map((name, index) => {
        const cell = cells[index] ?? '';
        return [name, name === 'metadata' && cell !== '' ? (JSON.parse(cell) as unknown) : cell];
      }),
    ),
  );
}

export const exportedByHand = (fact: Fact): Cells =>
  Object.fromEntries(Object.entries(EXPORTED_BY_HAND).map(([name, of]) => [name, of(fact)]));
