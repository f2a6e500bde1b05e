import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, stringify, wordOf } from '../../../endpoints/reading.js';
import { messagesBlocks, hubContent, hubPartsOf, withPartCacheControl } from './parts.js';
import { invalidMessagesRequest, unsupportedMessagesParameter } from './refusals.js';

/** One Anthropic message as messages of the hub. */
type ToMessages = (content: unknown) => Json[];

const ROLES: ReadonlyMap<unknown, ToMessages> = new Map<unknown, ToMessages>([
  ['user', userMessages],
  ['assistant', assistantMessages],
  ['system', systemMessages],
]);

/** `system` and `messages` of an Anthropic client as the hub's messages. Throws `invalid_request`. */
export function hubMessages({ system, messages }: Json): Json[] {
  if (!Array.isArray(messages)) throw parameterError('messages', 'must be a list');
  const turns = (messages as readonly unknown[]).flatMap((message) => {
    const toMessages = isObject(message) ? ROLES.get(message.role) : undefined;
    if (!toMessages) throw invalidMessagesRequest('Each message needs a role: user, assistant or system.');
    return toMessages((message as Json).content);
  });
  return [...systemMessages(system), ...turns];
}

function systemMessages(content: unknown): Json[] {
  const parts = hubPartsOf(content);
  return parts.length > 0 ? [{ role: 'system', content: hubContent(parts) }] : [];
}

/** In the hub, tool results are messages of their own, before the user's text beside them. */
function userMessages(content: unknown): Json[] {
  const blocks = messagesBlocks(content);
  const results = blocks.filter(({ type }) => type === 'tool_result').map(resultOf);
  const spokenParts = hubPartsOf(blocks.filter(({ type }) => type !== 'tool_result'));
  const parts = [...results.flatMap(({ shown }) => shown), ...spokenParts];
  const messages = results.map(({ message }) => message);
  return parts.length > 0 ? [...messages, { role: 'user', content: hubContent(parts) }] : messages;
}

interface Result {
  readonly message: Json;
  /** The tool's output besides text, for the user's message. */
  readonly shown: readonly Json[];
}

/**
 * The hub's tool results are texts (https://platform.openai.com/docs/api-reference/chat/create), so images and documents of a result move
 * to the user's next message, which names the call. The hub has no flag for a failed call either; its text reports the failure.
 */
function resultOf(block: Json): Result {
  const { tool_use_id: id, content, is_error: isError } = block;
  if (typeof id !== 'string') throw invalidMessagesRequest('A tool_result needs a "tool_use_id".');
  const parts = hubPartsOf(messagesBlocks(content).map(withoutReference));
  const texts = parts.filter(({ type }) => type === 'text');
  const shown = parts.filter(({ type }) => type !== 'text');
  const spokenParts = texts.length === 0 && shown.length > 0 ? SHOWN_NEXT : texts;
  const failed = isError === true ? withError(spokenParts) : spokenParts;
  const message = { role: 'tool', tool_call_id: id, content: hubContent(failed) };
  const caption = { type: 'text', text: `Shown by the tool call ${id}:` };
  return {
    message: withPartCacheControl(message, block),
    shown: shown.length > 0 ? [caption, ...shown] : [],
  };
}

/**
 * The text of a result without one. Without it, the call would seem to have returned nothing, and some providers refuse an empty result.
 */
const SHOWN_NEXT: readonly Json[] = [{ type: 'text', text: 'The result is shown in the next message.' }];

/** A tool found by a tool search becomes its name; its definition is in `tools`. */
function withoutReference(block: Json): Json {
  return block.type === 'tool_reference' ? { type: 'text', text: wordOf(block.tool_name) } : block;
}

function withError(texts: readonly Json[]): readonly Json[] {
  const says = texts.some(({ text }) => typeof text === 'string' && /^\W*error/i.test(text));
  return says ? texts : [{ type: 'text', text: 'Error:' }, ...texts];
}

/** The content of an assistant's turn so far. */
interface HubTurn {
  readonly parts: Json[];
  /** Blocks with signatures, which only their own provider can read. */
  readonly kept: Json[];
  readonly calls: Json[];
  thinking: string;
}

const READERS: ReadonlyMap<unknown, (block: Json, turn: HubTurn) => void> = new Map<
  unknown,
  (block: Json, turn: HubTurn) => void
>([
  ['text', (block, { parts }) => parts.push(...hubPartsOf([withoutCitations(block)]))],
  ['thinking', readThinking],
  ['redacted_thinking', (block, { kept }) => kept.push(block)],
  ['tool_use', (block, { calls }) => calls.push(callOf(block))],
]);

function assistantMessages(content: unknown): Json[] {
  const turn: HubTurn = { parts: [], kept: [], calls: [], thinking: '' };
  for (const block of messagesBlocks(content)) {
    const read = READERS.get(block.type);
    if (!read)
      throw unsupportedMessagesParameter(
        `messages[].content[].${wordOf(block.type)}`,
        'only Anthropic has such blocks',
      );
    read(block, turn);
  }
  const { parts, kept, calls, thinking } = turn;
  if (parts.length + kept.length + calls.length === 0 && thinking === '') return [];
  return [
    {
      role: 'assistant',
      content: parts.length === 0 && calls.length > 0 ? null : hubContent(parts),
      ...(thinking === '' ? {} : { reasoning_content: thinking }),
      ...(kept.length > 0 ? { content_blocks: kept } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

function withoutCitations({ type, text, cache_control: mark }: Json): Json {
  return withPartCacheControl({ type, text }, { cache_control: mark });
}

function readThinking(block: Json, turn: HubTurn): void {
  const { thinking, signature } = block;
  if (typeof thinking === 'string') turn.thinking += thinking;
  if (typeof signature === 'string' && signature !== '') turn.kept.push(block);
}

/** A call keeps the addition of another provider, which the response's stream had added to it. */
function callOf(block: Json): Json {
  const { id, name, input, extra_content: extra } = block;
  if (typeof id !== 'string' || typeof name !== 'string')
    throw invalidMessagesRequest('A tool_use needs an "id" and a "name".');
  const call = {
    id,
    type: 'function',
    function: { name, arguments: isObject(input) ? stringify(input) : '{}' },
    ...(isObject(extra) ? { extra_content: extra } : {}),
  };
  return withPartCacheControl(call, block);
}
