import type { Json } from '../../endpoint.js';
import { isObject, list, textOf, wordOf } from '../../endpoints/reading.js';
import { unsupportedParameter } from '../refusing.js';

type CohereTurnWriter = (message: Json) => Json;

const TURNS: ReadonlyMap<unknown, CohereTurnWriter> = new Map<unknown, CohereTurnWriter>([
  ['system', system],
  ['developer', system],
  ['user', ({ content }) => ({ role: 'user', content: contentOf(content, USER_PARTS) })],
  ['assistant', assistant],
  ['tool', tool],
]);

/** Messages in Cohere's format. Throws `parameter_unsupported`. https://docs.cohere.com/reference/chat */
export function cohereMessages(messages: unknown): readonly Json[] {
  return list(messages).map((message) => {
    const turn = isObject(message) ? TURNS.get(message.role) : undefined;
    if (!turn || !isObject(message))
      throw unsupportedParameter('messages', 'Cohere supports system, user, assistant and tool');
    return turn(message);
  });
}

type CoherePartReader = (part: Json) => Json;
type PartReaders = ReadonlyMap<unknown, CoherePartReader>;

const textPart: CoherePartReader = ({ text, refusal }) => ({ type: 'text', text: textOf(text ?? refusal) });

const TEXT_PARTS: PartReaders = new Map([
  ['text', textPart],
  ['refusal', textPart],
]);
const USER_PARTS: PartReaders = new Map([
  ['text', textPart],
  ['image_url', imagePart],
]);
/** Tool results may be documents in Cohere's format, which it can cite. */
const TOOL_PARTS: PartReaders = new Map([
  ['text', textPart],
  ['document', ({ document }: Json) => ({ type: 'document', document })],
]);

function imagePart({ image_url }: Json): Json {
  if (!isObject(image_url))
    throw unsupportedParameter('messages[].content[].image_url', 'it must be an object');
  const { url, detail } = image_url;
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } };
}

function contentOf(content: unknown, readers: PartReaders): string | readonly Json[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part: unknown) => {
    const type = isObject(part) ? part.type : null;
    const read = readers.get(type);
    if (!read || !isObject(part))
      throw unsupportedParameter('messages[].content[].type', `Cohere takes no "${wordOf(type)}" here`);
    return read(part);
  });
}

function system({ content }: Json): Json {
  return { role: 'system', content: contentOf(content, TEXT_PARTS) };
}

function tool({ tool_call_id, content }: Json): Json {
  return { role: 'tool', tool_call_id, content: contentOf(content, TOOL_PARTS) };
}

/** Beside tool calls, the assistant's text was its plan (`answer.ts`), and is sent back as one. */
function assistant(message: Json): Json {
  const calls = list(message.tool_calls).map(callOf);
  const contentParts = [...thoughts(message), ...spoken(message)];
  if (calls.length === 0) return { role: 'assistant', content: contentParts };
  const plan = textOf(spoken(message));
  return {
    role: 'assistant',
    ...(plan !== '' && { tool_plan: plan }),
    ...(thoughts(message).length > 0 && { content: thoughts(message) }),
    tool_calls: calls,
  };
}

function spoken({ content, refusal }: Json): readonly Json[] {
  const parts = list(content).filter((part) => !isObject(part) || !isThought(part));
  const contentParts = Array.isArray(content)
    ? contentOf(parts, TEXT_PARTS)
    : textOf(content) + textOf(refusal);
  if (typeof contentParts !== 'string') return contentParts;
  return contentParts === '' ? [] : [{ type: 'text', text: contentParts }];
}

const isThought = ({ type }: Json): boolean => type === 'thinking' || type === 'redacted_thinking';

/** Reasoning of earlier turns. A block that another provider encrypted cannot be read. */
function thoughts({ content, content_blocks, reasoning_content }: Json): readonly Json[] {
  const blocks = [...list(content_blocks), ...list(content)].filter(isObject).filter(isThought);
  const texts =
    blocks.length > 0 ? blocks.map(({ thinking }) => textOf(thinking)) : [textOf(reasoning_content)];
  return texts.filter((text) => text !== '').map((thinking) => ({ type: 'thinking', thinking }));
}

function callOf(call: unknown): Json {
  if (!isObject(call) || !isObject(call.function))
    throw unsupportedParameter('messages[].tool_calls', 'Cohere supports only functions');
  const { name, arguments: given } = call.function;
  return { id: call.id, type: 'function', function: { name, arguments: given } };
}
