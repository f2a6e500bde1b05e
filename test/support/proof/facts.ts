/**
 * What is true of one request, from whoever knows it first: its client, its provider, or the one who told of it. Names are those of the
 * interface, but absent texts are ''. Every figure of the suite is a sum over a list of these.
 */
export interface Fact {
  readonly id: string;
  /** Arrival, milliseconds since the epoch. */
  readonly at: number;
  readonly trace: string;
  readonly span: string;
  /** Slug. */
  readonly workspace: string;
  readonly keyId: string;
  readonly virtualKey: string;
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string;
  /** Slug. */
  readonly config: string;
  readonly prompt: string;
  readonly status: number;
  readonly cacheStatus: string;
  readonly ending: string;
  readonly errorCode: string;
  /** `api` or `otlp` where it was made elsewhere. */
  readonly source: string;
  /** Tokens; null where nobody told them. */
  readonly input: number | null;
  readonly output: number | null;
  /** Nano-dollars; null when nobody knows. */
  readonly cost: number | null;
  readonly saved: number;
  readonly retries: number;
  readonly fallbacks: number;
  readonly durationMs: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Mean of value times weight over the feedback on its trace; null where none was given. */
  readonly feedback: number | null;
}

export const tokensOf = ({ input, output }: Fact): number => (input ?? 0) + (output ?? 0);

export const userOf = ({ metadata }: Fact): string => metadata?.['_user'] ?? '';

export const NANO_PER_CENT = 10_000_000;

export interface Given {
  readonly trace: string;
  readonly value: number;
  readonly weight: number;
}

export function withFeedback(facts: readonly Fact[], given: readonly Given[]): Fact[] {
  const byTrace = new Map<string, number[]>();
  for (const { trace, value, weight } of given)
    byTrace.set(trace, [...(byTrace.get(trace) ?? []), value * weight]);
  return facts.map((fact) => ({ ...fact, feedback: meanOf(byTrace.get(fact.trace) ?? []) }));
}

export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
