import { fromStored, type Histogram, Quantiles, type StoredHistogram } from '../rollups/histogram.js';
import { type MeasureName, MEASURES } from '../rollups/measures.js';

interface ReadMeasure {
  readonly type: 'bigint' | 'jsonb' | 'timestamptz';
  readonly ofRequests: string;
  readonly ofRollup: string;
  readonly clickhouse: { readonly ofRequests: string; readonly ofRollup: string };
  /** Dimensions that the source must have for it. */
  readonly needs?: readonly string[];
  /** The rollup columns that it is computed from, besides dimensions; default: the one of its name. */
  readonly columns?: readonly MeasureName[];
}

/** Can only be counted while reading: its parts do not add up. */
const USERS = "count(DISTINCT nullif(end_user, ''))";
const NAMED = "countIf(end_user <> '')";

const OF_USERS = {
  users: {
    type: 'bigint',
    ofRequests: USERS,
    ofRollup: USERS,
    clickhouse: { ofRequests: USERS, ofRollup: USERS },
    needs: ['end_user'],
    columns: [],
  },
  requests_of_users: {
    type: 'bigint',
    ofRequests: "count(*) FILTER (WHERE end_user <> '')",
    ofRollup: "coalesce(sum(requests) FILTER (WHERE end_user <> ''), 0)::bigint",
    clickhouse: { ofRequests: NAMED, ofRollup: "sumIf(requests, end_user <> '')" },
    needs: ['end_user'],
    columns: ['requests'],
  },
} as const satisfies Record<string, ReadMeasure>;

export type ReadMeasureName = MeasureName | keyof typeof OF_USERS;

export const READ_MEASURES: Readonly<Record<ReadMeasureName, ReadMeasure>> = { ...MEASURES, ...OF_USERS };

/** The rollup columns that these measures are computed from, without duplicates. */
export const measureColumns = (measures: readonly ReadMeasureName[]): readonly string[] => [
  ...new Set(measures.flatMap((name): readonly string[] => READ_MEASURES[name].columns ?? [name])),
];

const NANO_USD_PER_CENT = 10_000_000;
const US_PER_MS = 1_000;
const PERCENT = 100;

/** Whether the total is the sum of the parts, so that it needs no separate count. */
export const addsUp = (name: ReadMeasureName): boolean =>
  name !== 'users' && READ_MEASURES[name].type !== 'timestamptz';

type CountsName =
  'duration_histogram' | 'first_token_histogram' | 'statuses' | 'refused_statuses' | 'retry_rescues';

/** How many responses had a status, and how many of them were refusals of the gateway. */
export interface StatusCount {
  readonly status: number;
  readonly count: number;
  readonly refusals: number;
}

/** The measures of one point, one group or a whole range, as display values. Measures that were not requested are 0. */
export class MeasureSums {
  private durations: Quantiles | undefined;
  private firstTokens: Quantiles | undefined;

  constructor(private readonly row: Readonly<Record<string, unknown>>) {}

  /** The total of parts that share no request, for measures that add up, together with the values of `besides`. */
  static of(
    parts: readonly MeasureSums[],
    measures: readonly ReadMeasureName[],
    besides: Readonly<Record<string, unknown>> = {},
  ): MeasureSums {
    const whole = measures.map((name) => {
      const values = parts.map(({ row }) => row[name] ?? 0);
      return [name, READ_MEASURES[name].type === 'jsonb' ? countsTogether(values) : sumOf(values)] as const;
    });
    return new MeasureSums({ ...Object.fromEntries(whole), ...besides });
  }

  /** A count; exact below 2^53. */
  count(name: ReadMeasureName): number {
    return READ_MEASURES[name].type === 'bigint' ? Number(this.row[name] ?? 0) : 0;
  }

  /** Nano-dollars as cents. */
  cents(name: 'cost_nano_usd' | 'simple_saved_nano_usd' | 'semantic_saved_nano_usd'): number {
    return this.count(name) / NANO_USD_PER_CENT;
  }

  /** Microseconds as milliseconds. */
  milliseconds(name: 'duration_us' | 'hit_duration_us'): number {
    return this.count(name) / US_PER_MS;
  }

  /** Milliseconds at a quantile, with an error of 0.8 % at most. */
  quantileMs(at: number): number {
    this.durations ??= new Quantiles(this.counts('duration_histogram'));
    return (this.durations.at(at) ?? 0) / US_PER_MS;
  }

  /** Milliseconds until the first token of a streamed response, at a quantile, with an error of 0.8 % at most; null without any. */
  firstTokenMs(at: number): number | null {
    this.firstTokens ??= new Quantiles(this.counts('first_token_histogram'));
    const microseconds = this.firstTokens.at(at);
    return microseconds === null ? null : microseconds / US_PER_MS;
  }

  counts(name: CountsName): Histogram {
    return fromStored((this.row[name] ?? {}) as Readonly<Record<string, number>>);
  }

  moment(name: 'first_seen' | 'last_seen'): string | null {
    const at = this.row[name];
    return at instanceof Date ? at.toISOString() : null;
  }

  get tokens(): number {
    return this.count('input_tokens') + this.count('output_tokens');
  }

  get hits(): number {
    return this.count('simple_hits') + this.count('semantic_hits');
  }

  /** Counts of responses with a status of 400 or more, from `statuses` and, for refusals, `refused_statuses`. */
  get failures(): readonly StatusCount[] {
    const refusals = this.counts('refused_statuses');
    return [...this.counts('statuses')]
      .filter(([status]) => status >= 400)
      .sort(([one], [other]) => one - other)
      .map(([status, count]) => ({ status, count, refusals: refusals.get(status) ?? 0 }));
  }

  /** Requests that the gateway did not refuse. */
  get accepted(): number {
    return this.count('requests') - this.count('refusals');
  }

  /** Percentage of errors among the requests that the gateway did not refuse; null without any. */
  get errorRate(): number | null {
    const errors = this.count('errors') - this.count('refusals');
    return this.accepted === 0 ? null : ratio(errors, this.accepted) * PERCENT;
  }

  perRequest(sum: number): number {
    return ratio(sum, this.count('requests'));
  }

  percentOfRequests(part: number): number {
    return this.perRequest(part) * PERCENT;
  }
}

/** Whole numbers as texts, as the driver returns them. */
const sumOf = (values: readonly unknown[]): string =>
  String(values.reduce<bigint>((sum, value) => sum + BigInt(value as string | number), 0n));

function countsTogether(values: readonly unknown[]): StoredHistogram {
  const counts: Record<string, number> = {};
  for (const value of values)
    for (const [name, count] of Object.entries(value as StoredHistogram))
      counts[name] = (counts[name] ?? 0) + count;
  return counts;
}

/** 0 when `whole` is 0. */
export const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
