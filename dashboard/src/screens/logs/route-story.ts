import type { LogAttempt, LogDetail } from '../../api/logs';
import { duration, money, short } from '../../parts/format/numbers';
import type { Tone } from '../../parts/values/values';
import { words } from '../../words/en';

const { route } = words.log;

/** One sentence of the story of a request, and what the record says about it. */
export interface Step {
  readonly icon: 'route' | 'retry' | 'fallback' | 'done' | 'failed' | 'cache';
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  /** Milliseconds after the request came in. */
  readonly atMs: number;
}

/** Why the request went where it went, from the decisions and attempts on record. Nothing is guessed. */
export function routeStory(log: LogDetail): readonly Step[] {
  const attempts = log.attempts.map((attempt, at) => attemptStep(log, attempt, log.attempts[at - 1]));
  return [beginning(log), ...attempts, ending(log)];
}

function beginning(log: LogDetail): Step {
  const { decisions, provider, virtual_key } = log;
  const shared = { icon: 'route', tone: 'accent', atMs: 0 } as const;
  if (decisions && decisions.length > 0)
    return { ...shared, title: route.decided, text: decisions.join('. ') };
  return {
    ...shared,
    title: route.direct(virtual_key ?? provider ?? words.parts.unknown),
    text: route.directText,
  };
}

/** A provider alone is not enough to tell two targets apart. */
const targetOf = (log: LogDetail, { provider, virtual_key_id, option_path }: LogAttempt): string => {
  const isNamed =
    virtual_key_id !== null && virtual_key_id === log.virtual_key_id && log.virtual_key !== null;
  const name = isNamed ? (log.virtual_key ?? provider) : provider;
  return option_path && option_path !== 'config' ? `${name} (${option_path})` : name;
};

function attemptStep(log: LogDetail, attempt: LogAttempt, before: LogAttempt | undefined): Step {
  const target = targetOf(log, attempt);
  const atMs = Date.parse(attempt.started_at) - Date.parse(log.created_at);
  const { status, error_code } = attempt;
  const isSuccess = status !== null && status < 400;
  const result =
    status === null
      ? route.failed(target, error_code ?? words.parts.unknown)
      : route.tried(target, String(status));
  const isSame = before?.option_path === attempt.option_path && before.provider === attempt.provider;
  const prefix = before === undefined ? '' : `${isSame ? route.retried(target) : route.fellBack(target)}. `;
  const icon = isSuccess ? 'done' : before === undefined ? 'failed' : isSame ? 'retry' : 'fallback';
  return {
    icon,
    tone: isSuccess ? 'success' : 'warning',
    title: `${prefix}${result}`,
    text: attemptText(attempt),
    atMs,
  };
}

function attemptText({
  first_byte_ms,
  duration_ms,
  error_code,
  input_tokens,
  output_tokens,
  cost_nano_usd,
}: LogAttempt): string {
  const time =
    first_byte_ms === null
      ? route.attemptNoByte(duration(duration_ms))
      : route.attemptText(duration(duration_ms), duration(first_byte_ms));
  const reason = error_code === null ? '' : ` ${route.because(error_code)}`;
  const tokens = (input_tokens ?? 0) + (output_tokens ?? 0);
  return `${time}${reason}${tokens > 0 ? ` ${route.charged(money(cost_nano_usd), short(tokens))}` : ''}`;
}

function ending(log: LogDetail): Step {
  const { status, attempts, error_code, cache_status, duration_ms } = log;
  const shared = { atMs: duration_ms } as const;
  if (attempts.length === 0 && cache_status?.includes('HIT'))
    return {
      ...shared,
      icon: 'cache',
      tone: 'success',
      title: route.cached,
      text: route.cachedText(money(log.saved_nano_usd)),
    };
  const text =
    attempts.length === 0 && error_code
      ? `${route.noAttempt}. ${route.refused(error_code)}`
      : route.ending(log.ending);
  return {
    ...shared,
    icon: status < 400 ? 'done' : 'failed',
    tone: status < 400 ? 'success' : 'error',
    title: route.delivered(status),
    text,
  };
}
