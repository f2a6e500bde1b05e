import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { THINKS } from '../../claude/thinking.js';

/**
 * Removes thinking from the model's own fields if Claude would refuse the request because of it, as at Anthropic itself: if a tool must be
 * called, and, for manual thinking, between a call and its result if the call's turn does not begin with signed thinking, which clients of
 * OpenAI's format do not keep. Only thinking that an effort was translated to is removed; thinking that the client requested in Claude's
 * own format stays. https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 */
export function bedrockWithoutRefusedThinking(body: Json, hub: Json): Json {
  const { additionalModelRequestFields: fields, toolConfig, messages } = body;
  if (!isObject(fields) || isRequested(hub)) return body;
  const form = isObject(fields.thinking) ? fields.thinking.type : null;
  const isBare = form === 'enabled' && isBareLoop(list(messages));
  if (!THINKS.has(form) || (!isBare && !isForced(toolConfig))) return body;
  const others = without('thinking', fields);
  if (Object.keys(others).length === 0) return without('additionalModelRequestFields', body);
  return { ...body, additionalModelRequestFields: others };
}

const without = (name: string, object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

const isRequested = ({
  thinking,
  additionalModelRequestFields,
  additional_model_request_fields,
}: Json): boolean =>
  [thinking, thinkingIn(additionalModelRequestFields), thinkingIn(additional_model_request_fields)].some(
    isObject,
  );

const thinkingIn = (fields: unknown): unknown => (isObject(fields) ? fields.thinking : null);

function isForced(config: unknown): boolean {
  const choice = isObject(config) ? config.toolChoice : null;
  return isObject(choice) && ('any' in choice || 'tool' in choice);
}

function isBareLoop(messages: readonly unknown[]): boolean {
  const [turn, answer] = messages.slice(-2).map(blocksOf);
  const isResult = answer?.some((block) => 'toolResult' in block) ?? false;
  const [first] = turn ?? [];
  return isResult && !(first && 'reasoningContent' in first);
}

function blocksOf(message: unknown): readonly Json[] {
  return isObject(message) ? list(message.content).filter(isObject) : [];
}
