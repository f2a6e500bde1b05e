import type { Json } from '../../providers/endpoint.js';
import type { Provider } from '../../providers/provider.js';

/** What the hub adds to OpenAI's shape, and providers of that very shape may refuse. */
const EXTRAS: ReadonlySet<string> = new Set(['cache_control', 'citations', 'content_blocks', 'context']);
const REASONING_PARTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/**
 * The hub's request for a provider that speaks OpenAI's shape itself: without marks and blocks that only other dialects
 * know. Reasoning of earlier turns goes back as text where the provider takes it: some refuse a request without it, others
 * one that has it (`Provider.reasoningField`).
 */
export function plainHub(hub: Json, { reasoningField }: ReasoningPlace): Json {
  const { messages, tools } = hub;
  const field = reasoningField === undefined ? 'reasoning_content' : reasoningField;
  return {
    ...hub,
    ...(Array.isArray(messages) ? { messages: messages.map((message) => plainMessage(message, field)) } : {}),
    ...(Array.isArray(tools) ? { tools: tools.map(withoutExtras) } : {}),
  };
}

type ReasoningPlace = Pick<Provider, 'reasoningField'>;

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
