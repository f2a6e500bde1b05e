import { ratio } from '../../request-log/analytics/read-measures.js';
import type { ChartField } from './answer-schemas.js';

/** Feedback counted by slot (from 0), score and model. */
export interface FeedbackCount {
  readonly slot: number;
  readonly score: number;
  readonly ai_model: string;
  readonly count: number;
  /** Sum of value times weight. */
  readonly weighted: number;
}

interface FeedbackAnswer {
  readonly summary: Readonly<Record<string, unknown>>;
  readonly data_points: readonly Readonly<Record<string, unknown>>[];
}

/** A feedback chart: paths below `/v1/analytics/graphs/`, fields, and their computation from the counts. */
export interface FeedbackGraph {
  readonly name: string;
  readonly summaryText: string;
  readonly descriptionText: string;
  readonly paths: readonly string[];
  readonly summaryFields: readonly ChartField[];
  readonly pointFields: readonly ChartField[];
  readonly of: (counts: readonly FeedbackCount[], slots: readonly number[]) => FeedbackAnswer;
}

const total = (counts: readonly FeedbackCount[]): number => counts.reduce((sum, { count }) => sum + count, 0);
const average = (counts: readonly FeedbackCount[]): number =>
  ratio(
    counts.reduce((sum, { weighted }) => sum + weighted, 0),
    total(counts),
  );

function bySlot(
  counts: readonly FeedbackCount[],
  slots: readonly number[],
  fields: (of: readonly FeedbackCount[]) => Record<string, unknown>,
): Record<string, unknown>[] {
  const groups = groupBy(counts, ({ slot }) => slot);
  return slots.map((at, slot) => ({
    timestamp: new Date(at).toISOString(),
    ...fields(groups.get(slot) ?? []),
  }));
}

function groupBy<Key>(
  counts: readonly FeedbackCount[],
  keyOf: (count: FeedbackCount) => Key,
): Map<Key, FeedbackCount[]> {
  const groups = new Map<Key, FeedbackCount[]>();
  for (const count of counts) {
    const group = groups.get(keyOf(count));
    if (group) group.push(count);
    else groups.set(keyOf(count), [count]);
  }
  return groups;
}

/** The compatible API's scale. */
const SCORES = Array.from({ length: 21 }, (_, index) => index - 10);

export const FEEDBACK_GRAPHS: readonly FeedbackGraph[] = [
  {
    name: 'feedbacks',
    summaryText: 'Graph feedback',
    descriptionText: 'Returns the number of ratings in each interval.',
    paths: ['feedbacks'],
    summaryFields: ['total'],
    pointFields: ['timestamp', 'total'],
    of: (counts, slots) => ({
      summary: { total: total(counts) },
      data_points: bySlot(counts, slots, (of) => ({ total: total(of) })),
    }),
  },
  {
    name: 'feedbackScores',
    summaryText: 'Graph feedback by score',
    descriptionText: 'Returns the number of ratings by value in the whole time range.',
    paths: ['feedbacks/scores', 'feedbacks/score'],
    summaryFields: ['total'],
    pointFields: ['score', 'total'],
    of: (counts) => {
      const groups = groupBy(counts, ({ score }) => score);
      return {
        summary: { total: total(counts) },
        data_points: SCORES.map((score) => ({ score, total: total(groups.get(score) ?? []) })),
      };
    },
  },
  {
    name: 'weightedFeedback',
    summaryText: 'Graph weighted feedback',
    descriptionText: 'Returns the mean of value times weight in each interval.',
    paths: ['feedbacks/weighted'],
    summaryFields: ['avg'],
    pointFields: ['timestamp', 'avg'],
    of: (counts, slots) => ({
      summary: { avg: average(counts) },
      data_points: bySlot(counts, slots, (of) => ({ avg: average(of) })),
    }),
  },
  {
    name: 'feedbackByModel',
    summaryText: 'Graph feedback by model',
    descriptionText:
      'Returns ratings by the model of the newest request of their trace. The model is empty if there is none.',
    paths: ['feedbacks/ai-models'],
    summaryFields: ['total'],
    pointFields: ['ai_model', 'total', 'avg_weighted_feedback'],
    of: (counts) => ({
      summary: { total: total(counts) },
      data_points: [...groupBy(counts, ({ ai_model }) => ai_model)]
        .map(([ai_model, of]) => ({ ai_model, total: total(of), avg_weighted_feedback: average(of) }))
        .sort((one, other) => other.total - one.total || (one.ai_model < other.ai_model ? -1 : 1)),
    }),
  },
];
