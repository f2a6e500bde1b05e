import { costOfAttempts } from '../../request-log/request-cost.js';
import type { Usage } from '../../common/contracts/usage.js';
import type { AttemptRecord, CountableText, RequestLogRecord } from '../../request-log/record.js';
import type { UsageCounter } from './ports.js';

/**
 * Counts and prices the tokens of an exchange whose provider reported no usage. The last attempt produced the response, so it gets usage
 * and cost, as do attempts whose responses were discarded; the cost of the request is their sum.
 *
 * Other records pass unchanged. Never throws: a text that cannot be counted leaves the usage unknown.
 */
export function withCountedUsage(record: RequestLogRecord, counter: UsageCounter): RequestLogRecord {
  const last = record.attempts.at(-1);
  const usage = last ? countedIn(record, counter) : null;
  if (!usage && !record.attempts.some(({ countable }) => countable)) return record;
  const attempts = record.attempts.map((attempt) =>
    usage && attempt === last ? charged(attempt, usage, counter) : countedAttempt(attempt, counter),
  );
  return {
    ...record,
    ...countedOf(record, attempts, usage),
    attempts,
    cost_nano_usd: costOfAttempts(attempts),
  };
}

/** Usage of an interrupted response is an estimate: its provider may bill for more than arrived. */
function countedOf(
  { usage: known }: RequestLogRecord,
  attempts: readonly AttemptRecord[],
  counted: Usage | null,
): Partial<RequestLogRecord> {
  const isCut = attempts.at(-1)?.isEstimated === true;
  const usage = counted ?? (isCut && !known ? attempts.at(-1)?.usage : null);
  return usage ? { usage, usage_source: isCut ? 'estimated' : 'counted' } : {};
}

interface Countable {
  readonly usage: Usage | null;
  readonly countable?: CountableText | null;
}

/** For a request, or for an attempt whose response was discarded. Null when the provider reported everything. */
function countedIn({ usage, countable = null }: Countable, counter: UsageCounter): Usage | null {
  if (!usage) return counted(countable, counter);
  const rest = countable?.isOutputOnly ? counted(countable, counter) : null;
  return rest && { ...usage, output_tokens: Math.max(usage.output_tokens, rest.output_tokens) };
}

function countedAttempt(attempt: AttemptRecord, counter: UsageCounter): AttemptRecord {
  const usage = countedIn(attempt, counter);
  return usage ? charged(attempt, usage, counter) : attempt;
}

/** At the price in force when the attempt was made. */
function charged(attempt: AttemptRecord, usage: Usage, counter: UsageCounter): AttemptRecord {
  const { price } = attempt;
  return { ...attempt, usage, cost_nano_usd: price ? counter.costOf(usage, price) : null };
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
