import { createHash } from 'node:crypto';
import { CallIds } from '../../providers/dialects/call-ids.js';
import type { Json } from '../../providers/endpoint.js';
import { wordOf } from '../../providers/endpoints/reading.js';
import { withoutAnthropicParameters } from '../../providers/client-formats/anthropic-parameters.js';
import type { Provider } from '../../providers/provider.js';
import { withIds } from './own-request.js';

/** Fields that the hub adds to OpenAI's format, and that providers of that format may refuse. */
const EXTRAS: ReadonlySet<string> = new Set(['cache_control', 'citations', 'content_blocks', 'context']);
const REASONING_PARTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** OpenAI's limit of `user`; other providers accept more. https://platform.openai.com/docs/api-reference/chat/create */
const USER_MAX = 64;

/**
 * The hub's request for a provider of OpenAI's format: without marks, blocks and options that only other dialects have. Reasoning of
 * earlier turns is sent as text if the provider accepts it: some refuse a request without it, others one with it
 * (`Provider.reasoningField`). Tool call ids fit the provider's rule.
 */
export function plainHub(hub: Json, { reasoningField, callIds }: PlainFacts): Json {
  const { messages, tools, user } = hub;
  const field = reasoningField === undefined ? 'reasoning_content' : reasoningField;
  const ids = callIds ? new CallIds(callIds) : null;
  return {
    ...withoutAnthropicParameters(hub, wordOf(hub.model)),
    ...(typeof user === 'string' && user.length > USER_MAX ? { user: shortened(user) } : {}),
    ...(Array.isArray(messages)
      ? { messages: messages.map((message) => withIds(plainMessage(message, field), ids)) }
      : {}),
    ...(Array.isArray(tools) ? { tools: tools.map(withoutExtras) } : {}),
  };
}

type PlainFacts = Pick<Provider, 'reasoningField' | 'callIds'>;

/** A digest, which distinguishes users as well as the whole value. */
const shortened = (user: string): string =>
  createHash('sha256').update(user).digest('hex').slice(0, USER_MAX);

function plainMessage(message: unknown, field: string | null): unknown {
  const plain = withReasoningAt(field, withoutExtras(message));
  if (!isObject(plain) || !Array.isArray(plain.content)) return plain;
  const parts = plain.content.filter((part) => !isObject(part) || !REASONING_PARTS.has(part.type));
  return { ...plain, content: parts.map(withoutExtras) };
}

function withReasoningAt(field: string | null, message: unknown): unknown {
  if (!isObject(message) || message.reasoning_content === undefined) return message;
  const { reasoning_content: reasoning, ...rest } = message;
  return field === null ? rest : { ...rest, [field]: reasoning };
}

function withoutExtras(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !EXTRAS.has(name)));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
