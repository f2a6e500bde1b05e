import { costOfAttempts } from '../../request-log/request-cost.js';
import type { AttemptRecord, OpenedExchange, RequestLogRecord } from '../../request-log/record.js';

/**
 * The record of an exchange whose process died: only its beginning is known, and what its attempts reserved of budgets.
 *
 * Attempts under way are settled at their reservation, because their provider received them and bills for them: the cost is an estimate,
 * and an upper bound. Without a budget nothing was reserved, and the cost is null, not 0; except for sessions, which record what they used.
 *
 * Status 500, because a crash of the gateway is a server failure in error rates; the status that was actually sent, if any, is lost.
 * `diedAt` is the process's last heartbeat, so the duration is a bound.
 */
export function crashedExchange(opened: OpenedExchange, diedAt: number): RequestLogRecord {
  const { attempts_so_far = [], ...known } = opened;
  const attempts = attempts_so_far.map((attempt) => ended(attempt, diedAt));
  const last = attempts.at(-1);
  const usage = last?.usage ?? null;
  return {
    ...known,
    config_id: null,
    config_version_id: null,
    option_path: last?.option_path ?? 'config',
    decisions: null,
    ending: 'gateway_crashed',
    status: 500,
    error_code: 'gateway_crashed',
    error_source: 'gateway',
    duration_ms: since(opened.created_at, diedAt),
    first_token_ms: null,
    overhead_us: 0,
    request_bytes: 0,
    response_bytes: 0,
    response_model: null,
    usage,
    usage_source: usage ? 'estimated' : 'none',
    cost_nano_usd: costOfAttempts(attempts),
    attempts: attempts.length > 0 ? attempts : [unknownAttempt(opened, diedAt)],
    countable: null,
    hook_results: null,
    request_headers: [],
    response_headers: [],
  };
}

function ended(attempt: AttemptRecord, diedAt: number): AttemptRecord {
  if (attempt.error_code !== 'gateway_crashed') return attempt;
  return { ...attempt, duration_ms: since(attempt.started_at, diedAt) };
}

function unknownAttempt(opened: OpenedExchange, diedAt: number): AttemptRecord {
  return {
    attempt: 0,
    option_path: 'config',
    provider: opened.provider ?? '',
    virtual_key_id: opened.virtual_key_id,
    origin: '',
    started_at: opened.created_at,
    first_byte_ms: null,
    duration_ms: since(opened.created_at, diedAt),
    status: null,
    error_code: 'gateway_crashed',
    usage: null,
    cost_nano_usd: null,
  };
}

const since = (start: number, end: number): number => Math.max(0, Math.round(end - start));
