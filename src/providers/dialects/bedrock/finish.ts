import type { Json } from '../../endpoint.js';

/** Stop reasons in the hub's format. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['malformed_model_output', 'stop'],
  ['malformed_tool_use', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
]);

/** The hub's `finish_reason`; an unknown reason counts as an ordinary end. */
export function fromConverseStopReason(reason: unknown): string {
  return REASONS.get(reason) ?? 'stop';
}

/** The provider's own reason and the matched stop sequence, for responses that need not be strict. */
export function converseStopFields(reason: unknown, sequence: unknown, isStrict: boolean): Json {
  if (isStrict) return {};
  return {
    ...(typeof reason === 'string' ? { native_finish_reason: reason } : {}),
    ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}),
  };
}
