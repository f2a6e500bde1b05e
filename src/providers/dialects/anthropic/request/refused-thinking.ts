import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';

/**
 * A request without manual thinking that Anthropic would refuse it for: where a tool must be called, and between a call and
 * its result when the call's turn does not begin with signed thinking, which clients of OpenAI's shape do not keep
 * (https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows). Only thinking that an effort stands for
 * is left out: an effort is a wish, and OpenAI's models serve such requests. What the client asked for in Anthropic's own
 * words stays. Adaptive thinking has neither limit.
 */
export function withoutRefusedThinking(body: Json, hub: Json): Json {
  const isManual = isObject(body.thinking) && body.thinking.type === 'enabled';
  if (!isManual || isObject(hub.thinking)) return body;
  if (!isForced(body.tool_choice) && !isBareLoop(list(body.messages))) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'thinking'));
}

function isForced(choice: unknown): boolean {
  return isObject(choice) && (choice.type === 'any' || choice.type === 'tool');
}

function isBareLoop(messages: readonly unknown[]): boolean {
  const [turn, answer] = messages.slice(-2).map(blocksOf);
  const isResult = answer?.some(({ type }) => type === 'tool_result') ?? false;
  return isResult && !THOUGHTS.has(turn?.[0]?.type);
}

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

function blocksOf(message: unknown): readonly Json[] {
  return isObject(message) ? list(message.content).filter(isObject) : [];
}
