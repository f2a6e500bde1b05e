import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { THINKS } from '../../claude/thinking.js';

/**
 * Removes thinking from a request that Anthropic would refuse because of it: if a tool must be called, and, for manual thinking, between a
 * call and its result if the call's turn does not begin with signed thinking, which clients of OpenAI's format do not keep
 * (https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows). Only thinking that an effort was translated to is
 * removed, because an effort is a preference and OpenAI's models serve such requests. Thinking that the client requested in Anthropic's own
 * format stays.
 */
export function anthropicWithoutRefusedThinking(body: Json, hub: Json): Json {
  const form = isObject(body.thinking) ? body.thinking.type : null;
  if (isObject(hub.thinking) || !THINKS.has(form)) return body;
  const isBare = form === 'enabled' && isBareLoop(list(body.messages));
  if (!isBare && !isForced(body.tool_choice)) return body;
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
