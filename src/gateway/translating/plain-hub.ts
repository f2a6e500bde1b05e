import type { Json } from '../../providers/endpoint.js';

/** What the hub adds to OpenAI's shape, and providers of that very shape may refuse. */
const EXTRAS: ReadonlySet<string> = new Set(['cache_control', 'citations', 'content_blocks', 'context']);
const REASONING_PARTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/**
 * The hub's request for a provider that speaks OpenAI's shape itself: without marks and blocks that only other dialects
 * know. Reasoning as text stays, because it comes from providers of this shape and some want it back.
 */
export function plainHub(hub: Json): Json {
  const { messages, tools } = hub;
  return {
    ...hub,
    ...(Array.isArray(messages) ? { messages: messages.map(plainMessage) } : {}),
    ...(Array.isArray(tools) ? { tools: tools.map(withoutExtras) } : {}),
  };
}

function plainMessage(message: unknown): unknown {
  const plain = withoutExtras(message);
  if (!isObject(plain) || !Array.isArray(plain.content)) return plain;
  const parts = plain.content.filter((part) => !isObject(part) || !REASONING_PARTS.has(part.type));
  return { ...plain, content: parts.map(withoutExtras) };
}

function withoutExtras(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !EXTRAS.has(name)));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
