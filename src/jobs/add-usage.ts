import type { EntityManager } from 'typeorm';
import type { UsageKey, UsageMinute, UsageSums } from './usage-minutes.js';

/** The columns of `usage_minute` and their types. The compiler sees to it that none is forgotten. */
const KEYS = {
  minute: 'timestamptz',
  organisation_id: 'text',
  workspace_id: 'text',
  api_key_id: 'text',
  virtual_key_id: 'text',
  provider: 'text',
  model: 'text',
  endpoint: 'text',
  status: 'smallint',
} as const satisfies Record<keyof UsageKey, string>;

const SUMS = {
  requests: 'bigint',
  counted_requests: 'bigint',
  unpriced_requests: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  cost_nano_usd: 'bigint',
  duration_us: 'bigint',
  first_token_us: 'bigint',
  duration_histogram: 'jsonb',
  first_token_histogram: 'jsonb',
} as const satisfies Record<keyof UsageSums, string>;

const COLUMNS = { ...KEYS, ...SUMS };

const names = (columns: object) => Object.keys(columns).join(', ');

const added = Object.entries(SUMS).map(([name, type]) =>
  type === 'jsonb'
    ? `${name} = merge_histograms(usage_minute.${name}, EXCLUDED.${name})`
    : `${name} = usage_minute.${name} + EXCLUDED.${name}`,
);

const ADD = `
  INSERT INTO usage_minute (${names(COLUMNS)})
  SELECT ${names(COLUMNS)} FROM jsonb_to_recordset($1::jsonb) AS sums (${Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  ON CONFLICT (${names(KEYS)}) DO UPDATE SET ${added.join(', ')}`;

/** Rows of one statement. Bounds the size of the parameter, not the batch. */
const CHUNK = 2_000;

/** Adds sums to the rollup, in the order given: rows are locked in that order. */
export async function addUsage(
  database: Pick<EntityManager, 'query'>,
  minutes: readonly UsageMinute[],
): Promise<void> {
  for (let start = 0; start < minutes.length; start += CHUNK)
    await database.query(ADD, [JSON.stringify(minutes.slice(start, start + CHUNK))]);
}

/** Makes the partitions that the sums go to. Outside the transaction that adds: its lock would last as long. */
export async function ensureDays(
  database: Pick<EntityManager, 'query'>,
  minutes: readonly UsageMinute[],
): Promise<void> {
  const days = [...new Set(minutes.map(({ minute }) => minute.slice(0, 10)))];
  await database.query('SELECT ensure_usage_minute_day(day) FROM unnest($1::date[]) AS day', [days]);
}
