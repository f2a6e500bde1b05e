import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { BEDROCK_CALL_IDS, CallIds } from '../../call-ids.js';
import {
  bedrockBlocks,
  cachePoint,
  bedrockTextBlock,
  presentBedrockBlocks,
  withBedrockCachePoint,
} from './content.js';
import { DocumentNames } from './media.js';
import { toolInput } from '../../claude/tool-input.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** A conversation in Converse's format. */
export interface BedrockConversation {
  readonly system: readonly Json[];
  readonly messages: readonly Json[];
}

interface BedrockTurn {
  readonly role: 'user' | 'assistant';
  readonly content: Json[];
}

/** Names that must be unique, and ids that must stay consistent, within a request. */
interface RequestNames {
  readonly names: DocumentNames;
  readonly ids: CallIds;
}

type BedrockRole = 'system' | BedrockTurn['role'];
type BedrockMessageWriter = (message: Json, known: RequestNames) => Json[];

/** Role and content of a hub message's turn. */
const ROLES: ReadonlyMap<unknown, readonly [BedrockRole, BedrockMessageWriter]> = new Map<
  unknown,
  readonly [BedrockRole, BedrockMessageWriter]
>([
  ['system', ['system', systemBlocks]],
  ['developer', ['system', systemBlocks]],
  ['user', ['user', ({ content }, { names }) => bedrockBlocks(content, names)]],
  ['assistant', ['assistant', assistantBlocks]],
  ['tool', ['user', toolResult]],
]);

/**
 * The hub's messages as `system` and `messages`. System and developer turns move to the front. Consecutive turns of one role are merged,
 * because Converse requires them to alternate, with tool results first. Empty turns are left out. A conversation of only instructions
 * becomes a user's turn, because the API requires one.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html
 */
export function bedrockConversation(messages: unknown): BedrockConversation {
  if (!Array.isArray(messages)) throw parameterError('messages', 'must be a list');
  const known: RequestNames = { names: new DocumentNames(), ids: new CallIds(BEDROCK_CALL_IDS) };
  const system: Json[] = [];
  const turns: BedrockTurn[] = [];
  for (const message of messages as readonly unknown[]) {
    const [role, toBlocks] = roleOf(message);
    const blocks = withBedrockCachePoint(toBlocks(message as Json, known), message as Json);
    if (role === 'system') system.push(...blocks);
    else addTurn(turns, role, blocks);
  }
  if (turns.length === 0 && system.length > 0)
    return { system: [], messages: [{ role: 'user', content: system }] };
  return { system, messages: turns.map(({ role, content }) => ({ role, content: resultsFirst(content) })) };
}

function roleOf(message: unknown): readonly [BedrockRole, BedrockMessageWriter] {
  const row = isObject(message) ? ROLES.get(message.role) : undefined;
  if (!row) throw invalidRequest('Each message needs a role: system, developer, user, assistant or tool.');
  return row;
}

function addTurn(turns: BedrockTurn[], role: BedrockTurn['role'], content: Json[]): void {
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...content);
  else if (content.length > 0) turns.push({ role, content: [...content] });
}

/** A mark stays after the block that it follows. */
function resultsFirst(content: readonly Json[]): readonly Json[] {
  const results: Json[] = [];
  const others: Json[] = [];
  let target = others;
  for (const block of content) {
    if (!('cachePoint' in block)) target = 'toolResult' in block ? results : others;
    target.push(block);
  }
  return [...results, ...others];
}

function systemBlocks({ content }: Json, { names }: RequestNames): Json[] {
  const blocks = bedrockBlocks(content, names);
  if (blocks.some((block) => !('text' in block) && !('cachePoint' in block)))
    throw unsupportedParameter('messages[].content', 'Bedrock takes only text as instructions');
  return blocks;
}

/** A result cannot contain a mark, so the mark follows it. */
function toolResult({ tool_call_id: id, content }: Json, { names, ids }: RequestNames): Json[] {
  if (typeof id !== 'string') throw invalidRequest('A message of a tool needs a "tool_call_id".');
  const blocks = bedrockBlocks(content, names);
  const isMark = (block: Json) => 'cachePoint' in block;
  const spokenBlocks = blocks.filter((block) => !isMark(block));
  return [
    { toolResult: { toolUseId: ids.of(id), content: spokenBlocks } },
    ...blocks.filter(isMark).slice(0, 1),
  ];
}

/**
 * An assistant's turn: the provider's own blocks if the client kept them, else its content, then its tool calls. If the blocks are only
 * thinking, they precede the content.
 */
function assistantBlocks(message: Json, { names, ids }: RequestNames): Json[] {
  if ((message.function_call ?? null) !== null)
    throw unsupportedParameter('messages[].function_call', 'send "tool_calls" instead');
  if ((message.audio ?? null) !== null)
    throw unsupportedParameter('messages[].audio', 'Bedrock accepts no audio of earlier messages');
  const kept = bedrockBlocks(list(message.content_blocks), names);
  const spokenBlocks = kept.some((block) => 'text' in block) ? [] : bedrockBlocks(message.content, names);
  return [
    ...kept,
    ...spokenBlocks,
    ...presentBedrockBlocks([bedrockTextBlock(message.refusal)]),
    ...list(message.tool_calls).flatMap((call) => toolUse(call, ids)),
  ];
}

function toolUse(call: unknown, ids: CallIds): Json[] {
  if (!isObject(call) || typeof call.id !== 'string') throw invalidRequest('Each tool call needs an "id".');
  if (call.type === 'custom')
    throw unsupportedParameter('messages[].tool_calls[].custom', 'Bedrock supports only functions');
  if (!isObject(call.function) || typeof call.function.name !== 'string')
    throw invalidRequest('Each tool call needs a "function" with a "name".');
  const { name, arguments: given } = call.function;
  return [{ toolUse: { toolUseId: ids.of(call.id), name, input: toolInput(given) } }, ...cachePoint(call)];
}
