import { randomUUID } from 'node:crypto';
import type { CacheStatus, Ending, LogSource, RequestLogRecord } from '../../../src/request-log/record.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import type { SeededRandom } from '../random.js';
import { aRecord } from '../recorded-requests.js';
import type { Fact } from './facts.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Long enough for a change of the clocks wherever they are changed. */
const BACK_DAYS = 220;
const EVERY_DAYS = 19;
const NEWEST_DAYS = 3;

/** The workspace, keys and configs that the requests of the past belong to. */
export interface Owner {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly keys: readonly string[];
  /** Ids by slug. */
  readonly configs: ReadonlyMap<string, string>;
}

/** Midnights in UTC, oldest first: around each change of the clocks in these zones, some between them, and the newest. */
export function pastDays(today: number, zones: readonly string[]): number[] {
  const days = new Set<number>();
  for (let ago = BACK_DAYS; ago >= 0; ago--) {
    const day = today - ago * DAY;
    const isChange = zones.some((zone) => offsetOf(zone, day) !== offsetOf(zone, day + DAY));
    if (isChange)
      days
        .add(day - DAY)
        .add(day)
        .add(day + DAY);
    if (ago % EVERY_DAYS === 0 || ago < NEWEST_DAYS) days.add(day);
  }
  return [...days].filter((day) => day <= today).sort((one, other) => one - other);
}

function offsetOf(timeZone: string, at: number): string | undefined {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value;
}

/** A request of one of these days, before `now`. */
export function aFact(owner: Owner, at: number, random: SeededRandom): Fact {
  const status = random.of([200, 200, 200, 200, 201, 302, 404, 429, 500]);
  const isSuccess = status < 400;
  const cacheStatus = random.of(['', '', 'MISS', 'HIT', 'SEMANTIC HIT', 'DISABLED']);
  const hasUsage = random.is(0.9);
  const metadata = random.of([
    null,
    {
      _user: `user-${random.whole(0, 60)}`,
      team: random.of(['red', 'blue', '']),
      feature: random.of(['search', 'chat']),
    },
  ]);
  return {
    id: uuidV7(at),
    at,
    trace: `trace-${random.whole(0, 900)}`,
    span: '',
    workspace: owner.slug,
    keyId: random.of(owner.keys),
    virtualKey: random.of(['', 'prod', 'test']),
    provider: random.of(['openai', 'anthropic', '']),
    model: random.of(['gpt-5', 'claude-5', 'gpt-5-mini', '']),
    endpoint: random.of(['chat-completions', 'embeddings', '']),
    config: random.of(['', ...owner.configs.keys()]),
    prompt: random.of(['', '', 'greeting', 'summary']),
    status,
    cacheStatus,
    ending: isSuccess ? 'completed' : random.of(['refused', 'upstream_failed']),
    errorCode: isSuccess ? '' : random.of(['rate_limited', 'upstream_error']),
    source: random.of(['', '', 'api', 'otlp']),
    input: hasUsage ? random.whole(0, 3_000) : null,
    output: hasUsage ? random.whole(0, 800) : null,
    cost: hasUsage && random.is(0.9) ? random.whole(0, 60_000_000) : null,
    saved: cacheStatus.includes('HIT') ? random.whole(0, 9_000_000) : 0,
    retries: isSuccess ? random.of([0, 0, 0, 1, 2]) : 0,
    fallbacks: isSuccess ? random.of([0, 0, 0, 1]) : 0,
    durationMs: random.whole(0, 40_000),
    metadata,
    feedback: null,
  };
}

/** As the data plane would have written it. */
export function recordOf(fact: Fact, owner: Owner): RequestLogRecord {
  const text = (value: string): string | null => (value === '' ? null : value);
  const record = aRecord({
    id: fact.id,
    created_at: fact.at,
    organisation_id: owner.organizationId,
    workspace_id: owner.workspaceId,
    api_key_id: fact.keyId,
    virtual_key: text(fact.virtualKey),
    provider: text(fact.provider),
    model: text(fact.model),
    endpoint: text(fact.endpoint),
    config_id: owner.configs.get(fact.config) ?? null,
    prompt_slug: text(fact.prompt),
    trace_id: fact.trace,
    status: fact.status,
    cache_status: text(fact.cacheStatus) as CacheStatus | null,
    ending: fact.ending as Ending,
    error_code: text(fact.errorCode),
    ...(fact.source === '' ? {} : { source: fact.source as LogSource }),
    usage: fact.input === null ? null : { input_tokens: fact.input, output_tokens: fact.output ?? 0 },
    usage_source: fact.input === null ? 'none' : 'provider',
    cost_nano_usd: fact.cost,
    saved_nano_usd: fact.saved === 0 ? null : fact.saved,
    duration_ms: fact.durationMs,
    metadata: fact.metadata,
  });
  const [attempt] = record.attempts;
  if (!attempt) throw new Error('A record has an attempt.');
  const further = (number: number, of: object) =>
    Array.from({ length: number }, () => ({ ...attempt, ...of }));
  const attempts = [
    attempt,
    ...further(fact.retries, {}),
    ...further(fact.fallbacks, { origin: 'https://other.example.com' }),
  ].map((each, index) => ({ ...each, attempt: index }));
  return { ...record, attempts };
}

export const newKeys = (): readonly string[] => [randomUUID(), randomUUID(), randomUUID()];

/** What is left of a request whose minutes are gone: its hour. */
export const byTheHour = (facts: readonly Fact[], minutesFrom: number): Fact[] =>
  facts.map((fact) => (fact.at < minutesFrom ? { ...fact, at: Math.floor(fact.at / HOUR) * HOUR } : fact));
