import { costOfAttempts } from '../../common/contracts/request-cost.js';
import type {
  AttemptRecord,
  CountableText,
  RequestLogRecord,
  Usage,
} from '../../common/contracts/request-log.js';
import type { UsageCounter } from './ports.js';

/**
 * Counts the tokens of an exchange whose provider gave no usage, and prices them. The last attempt is the one that
 * answered, so it gets usage and cost, as do those whose answers were put away; the request costs what all of them do.
 *
 * Other records pass unchanged. Never throws: a text that cannot be counted leaves usage unknown.
 */
export function withCountedUsage(record: RequestLogRecord, counter: UsageCounter): RequestLogRecord {
  const last = record.attempts.at(-1);
  const usage = record.usage === null && last ? counted(record.countable, counter) : null;
  if (!usage && !record.attempts.some(({ countable }) => countable)) return record;
  const { response_model, model } = record;
  const attempts = record.attempts.map((attempt) =>
    usage && attempt === last
      ? {
          ...attempt,
          usage,
          cost_nano_usd: costOf(attempt.provider, [response_model, model], usage, counter),
        }
      : countedAttempt(attempt, counter),
  );
  const own = usage ? ({ usage, usage_source: 'counted' } as const) : {};
  return { ...record, ...own, attempts, cost_nano_usd: costOfAttempts(attempts) };
}

function countedAttempt(attempt: AttemptRecord, counter: UsageCounter): AttemptRecord {
  const { countable, provider } = attempt;
  const usage = countable && attempt.usage === null ? counted(countable, counter) : null;
  if (!countable || !usage) return attempt;
  return { ...attempt, usage, cost_nano_usd: costOf(provider, [countable.model], usage, counter) };
}

function counted(text: CountableText | null, counter: UsageCounter): Usage | null {
  if (!text) return null;
  try {
    return {
      input_tokens: counter.countTokens(text.input),
      output_tokens: counter.countTokens(text.output),
    };
  } catch {
    return null;
  }
}

/** At the price of the first of these models that has one. */
function costOf(
  provider: string,
  models: readonly (string | null)[],
  usage: Usage,
  counter: UsageCounter,
): number | null {
  for (const name of models) {
    const cost = name === null ? null : counter.costOf(provider, name, usage);
    if (cost !== null) return cost;
  }
  return null;
}
