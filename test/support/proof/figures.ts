import type { Fact } from './facts.js';
import { type IntervalName, slotsByHand, type Span } from './calendar.js';
import {
  cacheSummaryByHand,
  COLUMNS_BY_HAND,
  feedbackOfGroup,
  GRAPHS_BY_HAND,
  groupBy,
  GROUPS_BY_HAND,
} from './recompute.js';

/** What JSON holds, unchecked. */
type Json = ReturnType<JSON['parse']>;
type Fields = Readonly<Record<string, unknown>>;

/** Asks an operation below `/v1/analytics/`. */
export type Ask = (path: string, query: Readonly<Record<string, string>>) => Promise<Json>;

/** One question: over which time, cut how, and narrowed to what. */
export interface Question extends Span {
  readonly query?: Readonly<Record<string, string>>;
  readonly interval?: IntervalName;
  readonly zone?: string;
  /** What can be counted of it; all of it, unless it is said. */
  readonly counted?: Span & { readonly isExact: boolean };
}

/** Percentiles are read from buckets; half a millisecond is what rounding to whole ones costs. */
const PERCENTILE_ERROR = 0.008;
const PERCENTILE = /^p\d\d/;
const ROUNDING = 1e-9;
const COLUMNS = Object.keys(COLUMNS_BY_HAND).join(',');
/** A mistake is told by its first differences. */
const TOLD = 5;

/** Compares what an asker is answered with sums over a list. Answers differences in words, none where all is well. */
export class Figures {
  constructor(private readonly ask: Ask) {}

  /** `facts`: all that fit the query, of whatever time. */
  async graph(path: string, facts: readonly Fact[], question: Question): Promise<string[]> {
    const { interval = 'hour', zone = 'UTC' } = question;
    const answer = await this.ask(`graphs/${path}`, {
      ...parametersOf(question),
      interval,
      ...(zone === 'UTC' ? {} : { time_zone: zone }),
    });
    const byHand = GRAPHS_BY_HAND[path];
    if (!byHand) throw new Error(`Nobody knows the graph ${path}.`);
    const all = within(facts, question.counted ?? question);
    const found = [
      ...differences(`${path} range`, answer.range, rangeOf(question)),
      ...differences(`${path} summary`, answer.summary, byHand.summary(all)),
    ];
    const points = byHand.entries?.(all) ?? pointsByHand(path, all, slotsByHand(question, interval, zone));
    return [...found, ...differences(`${path} data_points`, answer.data_points, points)].slice(0, TOLD);
  }

  async cacheSummary(facts: readonly Fact[], question: Question): Promise<string[]> {
    const answer = await this.ask('summary/cache', parametersOf(question));
    return differences('summary/cache', answer.summary, cacheSummaryByHand(within(facts, question)));
  }

  /** Every page, and one behind the last. */
  async groups(path: string, facts: readonly Fact[], question: Question, pageSize = 100): Promise<string[]> {
    const [field, valueOf] = GROUPS_BY_HAND[path] ?? ['', () => ''];
    const expected = groupBy(within(facts, question), valueOf);
    const pages = Math.ceil(expected.size / pageSize) + 1;
    const rows: Json[] = [];
    const found: string[] = [];
    for (let page = 0; page < pages; page++) {
      const { data, total, range } = await this.ask(`groups/${path}`, {
        ...parametersOf(question),
        columns: COLUMNS,
        page_size: String(pageSize),
        current_page: String(page),
      });
      found.push(...differences(`${path} total`, total, expected.size));
      found.push(...differences(`${path} range`, range, rangeOf(question)));
      rows.push(...data);
    }
    const counts = rows.map(({ requests }) => Number(requests));
    const sorted = [...counts].sort((one, other) => other - one);
    return [
      ...found,
      ...differences(`${path} order`, counts, sorted),
      ...differences(
        `${path} values`,
        rows.map((row) => String(row[field])).sort(),
        [...expected.keys()].sort(),
      ),
      ...rows.flatMap((row) => groupDifferences(path, row, expected.get(String(row[field])) ?? [], field)),
    ].slice(0, TOLD);
  }
}

/** Fields of a group that are no figures. */
const LABELS: ReadonlySet<string> = new Set(['object', 'api_key_name']);

function groupDifferences(path: string, row: Json, of: readonly Fact[], field: string): string[] {
  if (of.length === 0) return [];
  const columns = Object.entries(COLUMNS_BY_HAND).map(([name, column]) => [name, column(of)] as const);
  const told = Object.fromEntries(
    Object.entries(row as Fields)
      .filter(([name]) => name !== field && !LABELS.has(name))
      // Counts of some groups are texts, as in the compatible API.
      .map(([name, value]) => [name, name.endsWith('_seen') || value === null ? value : Number(value)]),
  );
  const feedback = path.startsWith('metadata/') ? feedbackOfGroup(of) : {};
  return differences(`${path} "${String(row[field])}"`, told, {
    ...Object.fromEntries(columns),
    ...feedback,
  });
}

function pointsByHand(path: string, all: readonly Fact[], slots: readonly number[]): Fields[] {
  const sorted = [...all].sort((one, other) => one.at - other.at);
  let start = 0;
  return slots.map((slot, index) => {
    const end = slots[index + 1] ?? Infinity;
    let stop = start;
    while (stop < sorted.length && (sorted[stop] as Fact).at < end) stop++;
    const [of, until] = [sorted.slice(start, stop), sorted.slice(0, start)];
    start = stop;
    return { timestamp: new Date(slot).toISOString(), ...GRAPHS_BY_HAND[path]?.point?.(of, until) };
  });
}

const within = (facts: readonly Fact[], { from, to }: Span): Fact[] =>
  facts.filter(({ at }) => at >= from && at < to);

const parametersOf = ({ from, to, query }: Question): Record<string, string> => ({
  time_of_generation_min: new Date(from).toISOString(),
  time_of_generation_max: new Date(to).toISOString(),
  ...query,
});

function rangeOf(question: Question): Fields {
  const { from, to, isExact } = question.counted ?? { ...question, isExact: true };
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), is_exact: isExact };
}

/** Where two values differ, by their path. Numbers are as near as the way to them is exact. */
export function differences(at: string, answered: unknown, expected: unknown): string[] {
  if (typeof answered === 'number' && typeof expected === 'number')
    return isNear(at, answered, expected) ? [] : [`${at}: ${answered} instead of ${expected}`];
  if (isObject(answered) && isObject(expected)) {
    const names = new Set([...Object.keys(answered), ...Object.keys(expected)]);
    return [...names].flatMap((name) => differences(`${at}.${name}`, answered[name], expected[name]));
  }
  return answered === expected
    ? []
    : [`${at}: ${JSON.stringify(answered)} instead of ${JSON.stringify(expected)}`];
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isNear(at: string, answered: number, expected: number): boolean {
  const name = at.slice(at.lastIndexOf('.') + 1);
  const allowed = PERCENTILE.test(name)
    ? expected * PERCENTILE_ERROR + 0.5
    : Math.abs(expected) * ROUNDING + ROUNDING;
  return Math.abs(answered - expected) <= allowed;
}
