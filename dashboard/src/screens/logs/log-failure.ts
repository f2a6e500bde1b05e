import type { LogDetail } from '../../api/logs';
import { logWords } from '../../words/log';

const { failure: texts } = logWords;

/** What went wrong with a request: whose error it was, its code, and what the client received as an explanation. */
export interface LogFailure {
  readonly title: string;
  /** Null if the stored response explains nothing, or is not stored. */
  readonly message: string | null;
  readonly code: string | null;
}

/** Null for a request that succeeded. */
export function failureOf({ status, error_code, error_source, response }: LogDetail): LogFailure | null {
  if (status < 400 && error_code === null) return null;
  return {
    title: error_source === 'provider' ? texts.ofProvider(status) : texts.ofGateway(status),
    message: messageOf(response.body),
    code: error_code,
  };
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The explanation in an error of the gateway or of a provider: `error.message`, `error`, `message` or `detail`. Gemini wraps it in a list. */
function messageOf(body: unknown): string | null {
  const answer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(answer)) return null;
  const { error } = answer;
  const candidates = [isObject(error) ? error.message : error, answer.message, answer.detail];
  return candidates.find((one): one is string => typeof one === 'string' && one !== '') ?? null;
}

/** Why a request has no known cost, or null if it has one. */
export function unknownCostOf(log: LogDetail): string | null {
  if (log.cost_nano_usd !== null) return null;
  const { cost } = logWords;
  const hasUsage = (log.input_tokens ?? 0) + (log.output_tokens ?? 0) > 0;
  if (hasUsage) return cost.unknown;
  if (log.attempts.length === 0) return cost.notSent;
  return log.status >= 400 ? cost.failed : cost.noUsage;
}
