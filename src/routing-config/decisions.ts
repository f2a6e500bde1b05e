/**
 * How a record and a simulation describe a conditional's choice. `held`: the first condition that matched, -1 for none; `to`: the target,
 * null for none.
 */
export function conditionDecision(path: string, held: number, to: string | null): string {
  if (to === null) return `${path}: no condition holds and there is no default, so the request is refused`;
  const why = held < 0 ? 'no condition holds' : `conditions[${held}] holds`;
  return `${path}: ${why}, so ${to}`;
}

export const balanceDecision = (path: string, to: string, by: string): string => `${path}: ${to} by ${by}`;

export const outOfServiceDecision = (out: number, of: number): string =>
  `${out} of ${of} targets are out of service`;

export const hedgeDecision = (path: string, to: string, afterMs: number): string =>
  `${path}: ${to} is asked too after ${afterMs} ms`;

export const DECISION_KINDS = [
  'condition',
  'default',
  'no_target',
  'balance',
  'out_of_service',
  'hedge',
  'note',
] as const;

export type DecisionKind = (typeof DECISION_KINDS)[number];

/** A parsed decision of a record. */
export interface Decision {
  readonly kind: DecisionKind;
  /** Path in the config where it was made; null if the text does not contain it. */
  readonly path: string | null;
  /** The chosen target; null for none. */
  readonly target: string | null;
  /** Index of the condition that matched. */
  readonly condition: number | null;
  /** The criterion of a load balance. */
  readonly by: string | null;
  /** Milliseconds after which a hedged attempt began. */
  readonly after_ms: number | null;
  /** The recorded text. */
  readonly text: string;
}

const PATH = String.raw`config(?:\.targets\[\d+\])*`;
const pattern = (rest: string): RegExp => new RegExp(`^${rest}$`);
const FROM = `(?<path>${PATH}): `;
const TO = `(?<target>${PATH})`;

/** The first match counts. */
const PATTERNS: readonly (readonly [DecisionKind, RegExp])[] = [
  ['condition', pattern(`${FROM}conditions\\[(?<condition>\\d+)\\] holds, so ${TO}`)],
  ['default', pattern(`${FROM}no condition holds, so ${TO}`)],
  ['no_target', pattern(`${FROM}no condition holds and there is no default, so the request is refused`)],
  ['hedge', pattern(`${FROM}${TO} is asked too after (?<after>\\d+) ms`)],
  ['balance', pattern(`${FROM}${TO} by (?<by>.+)`)],
  ['out_of_service', pattern('\\d+ of \\d+ targets are out of service')],
];

const numberOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

/** A text that none of these functions wrote is a note. */
export function readDecision(text: string): Decision {
  const found = PATTERNS.find(([, form]) => form.test(text));
  const { path, target, condition, by, after } = found?.[1].exec(text)?.groups ?? {};
  return {
    kind: found?.[0] ?? 'note',
    path: path ?? null,
    target: target ?? null,
    condition: numberOf(condition),
    by: by ?? null,
    after_ms: numberOf(after),
    text,
  };
}
