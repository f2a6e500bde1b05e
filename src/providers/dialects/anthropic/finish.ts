import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/**
 * Stop reasons in the hub's format. A client may send a paused turn back to continue it, which the hub can only call ended.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** The hub's `finish_reason`; an unknown reason counts as an ordinary end. */
export function fromStopReason(reason: unknown): string {
  return REASONS.get(reason) ?? 'stop';
}

/** The provider's own reason and the matched stop sequence, for responses that need not be strict. */
export function anthropicStopFields(reason: unknown, sequence: unknown, isStrict: boolean): Json {
  if (isStrict) return {};
  return {
    ...(typeof reason === 'string' ? { native_finish_reason: reason } : {}),
    ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}),
  };
}

/** Anthropic's explanation of a refusal; null without one. */
export function refusalText(details: unknown): string | null {
  return isObject(details) && typeof details.explanation === 'string' ? details.explanation : null;
}
