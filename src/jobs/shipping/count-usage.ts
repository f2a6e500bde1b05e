import type { AttemptRecord, RequestLogRecord, Usage } from '../../common/contracts/request-log.js';
import type { UsageCounter } from './ports.js';

/**
 * Counts the tokens of an exchange whose provider gave no usage, and prices them. The last attempt is the one that
 * answered, so it gets usage and cost; what earlier attempts cost is added for the request.
 *
 * Other records pass unchanged. Never throws: a text that cannot be counted leaves usage unknown.
 */
export function withCountedUsage(record: RequestLogRecord, counter: UsageCounter): RequestLogRecord {
  const last = record.attempts.at(-1);
  const usage = record.usage === null && last ? counted(record, counter) : null;
  if (!usage || !last) return record;
  const cost = costOf(last.provider, record, usage, counter);
  const attempts = [...record.attempts.slice(0, -1), { ...last, usage, cost_nano_usd: cost }];
  return { ...record, usage, usage_source: 'counted', attempts, cost_nano_usd: totalCost(attempts) };
}

function counted({ countable }: RequestLogRecord, counter: UsageCounter): Usage | null {
  if (!countable) return null;
  try {
    return {
      input_tokens: counter.countTokens(countable.input),
      output_tokens: counter.countTokens(countable.output),
    };
  } catch {
    return null;
  }
}

function costOf(
  provider: string,
  { model, response_model }: RequestLogRecord,
  usage: Usage,
  counter: UsageCounter,
): number | null {
  for (const name of [response_model, model]) {
    const cost = name === null ? null : counter.costOf(provider, name, usage);
    if (cost !== null) return cost;
  }
  return null;
}

/** An attempt without usage produced nothing that is billed. One that did, at a price nobody knows, makes the sum unknown. */
function totalCost(attempts: readonly AttemptRecord[]): number | null {
  let sum = 0;
  for (const { usage, cost_nano_usd } of attempts) {
    if (usage !== null && cost_nano_usd === null) return null;
    sum += cost_nano_usd ?? 0;
  }
  return sum;
}
