import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/**
 * Why an answer ended, in the hub's words. A paused turn is one that the client may send back to have it go on, which the
 * hub can only call ended. https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
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

/** The hub's `finish_reason`; a reason that is not known yet counts as an ordinary end. */
export function finishReason(reason: unknown): string {
  return REASONS.get(reason) ?? 'stop';
}

/** The provider's own word beside it and the stop sequence that was found, for answers that need not be strict. */
export function nativeReason(reason: unknown, sequence: unknown, isStrict: boolean): Json {
  if (isStrict) return {};
  return {
    ...(typeof reason === 'string' ? { native_finish_reason: reason } : {}),
    ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}),
  };
}

/** What Anthropic says of a refusal; null where it says nothing. */
export function refusalText(details: unknown): string | null {
  return isObject(details) && typeof details.explanation === 'string' ? details.explanation : null;
}
