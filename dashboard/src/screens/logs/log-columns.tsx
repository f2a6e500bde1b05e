import { IconArrowsSplit2, IconBolt, IconRefresh, IconShieldX } from '@tabler/icons-react';
import type { LogRow } from '../../api/logs';
import { duration, exact, NONE, short } from '../../parts/format/numbers';
import { CompactRow } from '../../parts/table/compact-row';
import type { Column } from '../../parts/table/data-table';
import { Moment, Money, StatusPill, toneOfStatus, Value } from '../../parts/values/values';
import { words } from '../../words/en';
import styles from './logs.module.css';

const { columns: titles, notes } = words.logs;
const DENIED = 446;

export const LOG_COLUMN_KEYS = [
  'time',
  'status',
  'model',
  'virtual_key',
  'api_key',
  'tokens',
  'cost',
  'latency',
  'first_token',
  'notes',
] as const;

const tokensOf = ({ input_tokens, output_tokens }: LogRow): string => {
  if (input_tokens === null && output_tokens === null) return NONE;
  return `${input_tokens === null ? NONE : short(input_tokens)} → ${output_tokens === null ? NONE : short(output_tokens)}`;
};

/** A column of one plain text. */
const textColumn = (
  ...[key, title, width, textOf]: readonly [string, string, string, (row: LogRow) => string | null]
): Column<LogRow> => ({ key, title, width, cell: (row) => <Value isMuted>{textOf(row)}</Value> });

/** Every column available in the list, in order. */
export const LOG_COLUMNS: readonly Column<LogRow>[] = [
  {
    key: 'time',
    title: titles.time,
    width: '100px',
    isSorted: true,
    cell: ({ created_at }) => <Moment at={created_at} as="clock" />,
  },
  {
    key: 'status',
    title: titles.status,
    width: '56px',
    cell: ({ status }) => <StatusPill tone={toneOfStatus(status)}>{status}</StatusPill>,
  },
  {
    key: 'model',
    title: titles.model,
    width: 'minmax(130px, 2fr)',
    cell: ({ model, endpoint, method, path }) => <Value>{model ?? endpoint ?? `${method} ${path}`}</Value>,
  },
  textColumn(
    'virtual_key',
    titles.virtualKey,
    'minmax(90px, 1.2fr)',
    ({ virtual_key, provider }) => virtual_key ?? provider,
  ),
  textColumn('api_key', titles.apiKey, 'minmax(90px, 1.2fr)', keyName),
  textColumn('provider', titles.provider, 'minmax(80px, 1fr)', ({ provider }) => provider),
  textColumn('endpoint', titles.endpoint, 'minmax(100px, 1fr)', ({ endpoint }) => endpoint),
  textColumn('trace', titles.trace, 'minmax(100px, 1fr)', ({ trace_id }) => trace_id),
  { key: 'tokens', title: titles.tokens, width: '102px', align: 'end', cell: tokensOf },
  {
    key: 'cost',
    title: titles.cost,
    width: '84px',
    align: 'end',
    cell: (row) => <Cost log={row} />,
  },
  {
    key: 'latency',
    title: titles.latency,
    width: '76px',
    align: 'end',
    cell: ({ duration_ms }) => duration(duration_ms),
  },
  {
    key: 'first_token',
    title: titles.firstToken,
    width: '84px',
    align: 'end',
    cell: ({ first_token_ms }) => duration(first_token_ms),
  },
  textColumn('method', titles.method, '72px', ({ method }) => method),
  textColumn('path', titles.path, 'minmax(120px, 1.5fr)', ({ path }) => path),
  textColumn('error', titles.error, 'minmax(110px, 1fr)', ({ error_code }) => error_code),
  { key: 'notes', title: titles.notes, width: '104px', cell: (row) => <Notes row={row} /> },
];

/** The cost of a request. A failed request without cost was not charged, which `$0` would not express. */
export function Cost({ log: { status, cost_nano_usd } }: { log: LogRow }) {
  if (status < 400 || cost_nano_usd !== 0) return <Money nano={cost_nano_usd} />;
  return (
    <span className={styles.muted} title={words.logs.notCharged}>
      {NONE}
    </span>
  );
}

/** The end of the id where the row of the key does not exist. */
export function keyName({ api_key_id, api_key_name }: LogRow): string | null {
  return api_key_name ?? api_key_id?.slice(-6) ?? null;
}

/** The first of these that applies: denied, fell back, cached, retried. */
function Notes({ row }: { row: LogRow }) {
  const note = noteOf(row);
  if (!note) return null;
  const { Icon, text } = note;
  return (
    <span className={styles.note}>
      <Icon size={14} aria-hidden /> {text}
    </span>
  );
}

function noteOf({ status, fallback_count, cache_status, retry_count }: LogRow) {
  if (status === DENIED) return { Icon: IconShieldX, text: notes.denied };
  if (fallback_count) return { Icon: IconArrowsSplit2, text: notes.fallback };
  if (cache_status?.includes('HIT')) return { Icon: IconBolt, text: notes.cached };
  return retry_count ? { Icon: IconRefresh, text: notes.retries(retry_count) } : null;
}

export function CompactLog({ row }: { row: LogRow }) {
  return (
    <CompactRow
      title={
        <>
          <StatusPill tone={toneOfStatus(row.status)}>{row.status}</StatusPill> {row.model ?? row.endpoint}
        </>
      }
      end={<Cost log={row} />}
      details={[
        <Moment key="time" at={row.created_at} as="clock" />,
        keyName(row),
        duration(row.duration_ms),
      ]}
      note={<Notes row={row} />}
    />
  );
}

/** 1,204 → 310 tokens, exactly. */
export const exactTokens = ({ input_tokens, output_tokens }: LogRow): string =>
  `${input_tokens === null ? NONE : exact(input_tokens)} → ${output_tokens === null ? NONE : exact(output_tokens)}`;
