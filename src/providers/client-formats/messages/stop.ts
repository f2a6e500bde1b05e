import type { Json } from '../../endpoint.js';

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/** Anthropic's own reasons, which a response that need not be strict may still contain. */
const OWN: ReadonlySet<unknown> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);

/** Input of the stop reason. */
export interface StopFacts {
  readonly reason: unknown;
  readonly native: unknown;
  /** The matched stop sequence; null if the provider does not report it. */
  readonly sequence: unknown;
  readonly hasCalls: boolean;
  /** The model's text of a refusal. */
  readonly refusal: string;
}

/**
 * `stop_reason`, `stop_sequence` and `stop_details`. Some providers end a response with tool calls with `stop`; clients would not run them.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export function stopOf({ reason, native, sequence, hasCalls, refusal }: StopFacts): Json {
  const found = typeof sequence === 'string' && reason === 'stop' ? sequence : null;
  const own = found === null ? native : 'stop_sequence';
  const known = OWN.has(own) ? own : (REASONS.get(reason) ?? 'end_turn');
  const stop = refusalOr(hasCalls && known === 'end_turn' ? 'tool_use' : known, refusal);
  const details =
    stop === 'refusal' ? { type: 'refusal', category: null, explanation: refusal || null } : null;
  return { stop_reason: stop, stop_sequence: found, stop_details: details };
}

function refusalOr(stop: unknown, refusal: string): unknown {
  return stop === 'end_turn' && refusal !== '' ? 'refusal' : stop;
}

/**
 * The part of a refusal that belongs to the response's text. An OpenAI model refuses in its own words and ends normally; if the response
 * was stopped instead, the words explain that and appear only in `stop_details`.
 */
export function spokenRefusal(reason: unknown, refusal: string): string {
  return REASONS.get(reason) === 'refusal' ? '' : refusal;
}

/** The hub's field for it, or vLLM's: https://docs.vllm.ai/en/stable/api/vllm/outputs.html (CompletionOutput.stop_reason) */
export const sequenceOf = ({ stop_sequence: sequence, stop_reason: reason }: Json): unknown =>
  sequence ?? reason;
