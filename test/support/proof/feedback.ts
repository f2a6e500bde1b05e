import { type Fact, type Given, meanOf } from './facts.js';
import { groupBy } from './recompute.js';

const SCORES = 21;

interface FeedbackGraph {
  readonly summary: object;
  readonly points?: readonly object[];
}

type Row = Readonly<Record<string, unknown>>;

/** A list of groups has no order of its own; one without the field stays as it is. */
export const sortedBy = (rows: readonly Row[], field: string): readonly Row[] =>
  [...rows].sort((one, other) =>
    String(one[field]) < String(other[field]) ? -1 : Number(one[field] !== other[field]),
  );

const weighted = (given: readonly Given[]): number =>
  meanOf(given.map(({ value, weight }) => value * weight)) ?? 0;

/** By path below `/v1/analytics/graphs/`; points only where they are no slots of time. */
export function feedbackByHand(
  given: readonly Given[],
  facts: readonly Fact[],
): Readonly<Record<string, FeedbackGraph>> {
  const total = { total: given.length };
  const models = new Map(facts.map(({ trace, model }) => [trace, model]));
  const byModel = [...groupBy(given, ({ trace }) => models.get(trace) ?? '')].map(([ai_model, all]) => ({
    ai_model,
    total: all.length,
    avg_weighted_feedback: weighted(all),
  }));
  return {
    feedbacks: { summary: total },
    'feedbacks/scores': {
      summary: total,
      points: Array.from({ length: SCORES }, (_, index) => ({
        score: index - 10,
        total: given.filter(({ value }) => value === index - 10).length,
      })),
    },
    'feedbacks/weighted': { summary: { avg: weighted(given) } },
    'feedbacks/ai-models': { summary: total, points: sortedBy(byModel, 'ai_model') },
  };
}
