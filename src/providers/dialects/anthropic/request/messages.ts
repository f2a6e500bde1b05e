import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { ANTHROPIC_CALL_IDS, CallIds } from '../../call-ids.js';
import {
  anthropicBlocks,
  anthropicTextBlock,
  presentAnthropicBlocks,
  withBlockCacheControl,
  withAnthropicCachePoint,
} from './content.js';
import { toolInput } from '../../claude/tool-input.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** A conversation in Anthropic's format. */
export interface AnthropicConversation {
  readonly system: readonly Json[];
  readonly messages: readonly Json[];
}

interface AnthropicTurn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: Json[];
}

type AnthropicRole = AnthropicTurn['role'];
type AnthropicMessageWriter = (message: Json, ids: CallIds) => Json[];

/** Role and content of a hub message's turn. */
const ROLES: ReadonlyMap<unknown, readonly [AnthropicRole, AnthropicMessageWriter]> = new Map<
  unknown,
  readonly [AnthropicRole, AnthropicMessageWriter]
>([
  ['system', ['system', systemBlocks]],
  ['developer', ['system', systemBlocks]],
  ['user', ['user', userBlocks]],
  ['assistant', ['assistant', assistantBlocks]],
  ['tool', ['user', toolResult]],
]);

/**
 * The hub's messages as `system` and `messages`.
 *
 * A system or developer turn keeps its position if the model supports it there: after a user's turn, and before an assistant's turn or at
 * the end. It then leaves the cached prefix unchanged
 * (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages#limitations). All others move to the front, as in
 * Anthropic's own endpoint for OpenAI's clients (https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk), which has no
 * field for `name` either.
 *
 * Consecutive turns of one role are merged, with tool results first, as the API requires
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls). Empty turns are left out. A conversation of only
 * instructions becomes a user's turn, because the API requires one.
 */
export function anthropicConversation(messages: unknown, takesSystemTurns: boolean): AnthropicConversation {
  if (!Array.isArray(messages)) throw parameterError('messages', 'must be a list');
  const ids = new CallIds(ANTHROPIC_CALL_IDS);
  const spoken: AnthropicTurn[] = [];
  for (const message of messages as readonly unknown[]) {
    const turn = turnOf(message, ids);
    if (turn.content.length > 0) spoken.push(turn);
  }
  const mayStay = takesSystemTurns && spoken.some(isSystems) ? beforeAnswers(spoken) : NOWHERE;
  const system: Json[] = [];
  const turns: AnthropicTurn[] = [];
  spoken.forEach((turn, at) => {
    const isInPlace = mayStay[at] === true && turns.length > 0 && turns.at(-1)?.role !== 'assistant';
    if (isSystems(turn) && !isInPlace) system.push(...turn.content);
    else addTurn(turns, turn);
  });
  if (turns.length === 0 && system.length > 0)
    return { system: [], messages: [{ role: 'user', content: system }] };
  return { system, messages: turns.map(withResultsFirst) };
}

const NOWHERE: readonly boolean[] = [];

const isSystems = ({ role }: AnthropicTurn): boolean => role === 'system';

function turnOf(message: unknown, ids: CallIds): AnthropicTurn {
  const [role, toBlocks] = roleOf(message);
  return { role, content: withAnthropicCachePoint(toBlocks(message as Json, ids), message as Json) };
}

/** For each turn, whether the next one that is not the system's, if any, is the assistant's. */
function beforeAnswers(spoken: readonly AnthropicTurn[]): readonly boolean[] {
  let isBefore = true;
  return spoken
    .map(({ role }) => role)
    .reverse()
    .map((role) => {
      const found = isBefore;
      if (role !== 'system') isBefore = role === 'assistant';
      return found;
    })
    .reverse();
}

function roleOf(message: unknown): readonly [AnthropicRole, AnthropicMessageWriter] {
  const row = isObject(message) ? ROLES.get(message.role) : undefined;
  if (!row) throw invalidRequest('Each message needs a role: system, developer, user, assistant or tool.');
  return row;
}

function addTurn(turns: AnthropicTurn[], turn: AnthropicTurn): void {
  const last = turns.at(-1);
  if (last?.role === turn.role) last.content.push(...turn.content);
  else turns.push(turn);
}

const isResult = ({ type }: Json): boolean => type === 'tool_result';

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls */
function withResultsFirst(turn: AnthropicTurn): Json {
  const { role, content } = turn;
  if (!content.some(isResult)) return { role, content };
  return { role, content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))] };
}

function systemBlocks({ content }: Json): Json[] {
  const blocks = anthropicBlocks(content);
  if (blocks.some(({ type }) => type !== 'text'))
    throw unsupportedParameter('messages[].content', 'Anthropic takes only text as instructions');
  return blocks;
}

function userBlocks({ content }: Json): Json[] {
  return anthropicBlocks(content);
}

function toolResult(message: Json, ids: CallIds): Json[] {
  const { tool_call_id: id, content } = message;
  if (typeof id !== 'string') throw invalidRequest('A message of a tool needs a "tool_call_id".');
  const spoken = typeof content === 'string' ? content.trim() && content : anthropicBlocks(content);
  return [
    { type: 'tool_result', tool_use_id: ids.of(id), ...(spoken.length > 0 ? { content: spoken } : {}) },
  ];
}

/**
 * An assistant's turn: the provider's own blocks if the client kept them, else its content, then its tool calls. If the blocks are only
 * thinking, they precede the content.
 */
function assistantBlocks(message: Json, ids: CallIds): Json[] {
  if ((message.function_call ?? null) !== null)
    throw unsupportedParameter('messages[].function_call', 'send "tool_calls" instead');
  if ((message.audio ?? null) !== null)
    throw unsupportedParameter('messages[].audio', 'Anthropic accepts no audio of earlier messages');
  const kept = anthropicBlocks(list(message.content_blocks));
  const spoken = kept.some(({ type }) => type === 'text') ? [] : anthropicBlocks(message.content);
  return [
    ...kept,
    ...spoken,
    ...presentAnthropicBlocks([anthropicTextBlock(message.refusal)]),
    ...calls(message, kept, ids),
  ];
}

function calls({ tool_calls: given }: Json, kept: readonly Json[], ids: CallIds): Json[] {
  const known = new Set(kept.map(({ id }) => id));
  return list(given)
    .filter((call) => !isObject(call) || !known.has(call.id))
    .map((call) => toolUse(call, ids));
}

function toolUse(call: unknown, ids: CallIds): Json {
  if (!isObject(call) || typeof call.id !== 'string') throw invalidRequest('Each tool call needs an "id".');
  if (call.type === 'custom')
    throw unsupportedParameter('messages[].tool_calls[].custom', 'Anthropic supports only functions');
  if (!isObject(call.function) || typeof call.function.name !== 'string')
    throw invalidRequest('Each tool call needs a "function" with a "name".');
  const { name, arguments: given } = call.function;
  return withBlockCacheControl(
    { type: 'tool_use', id: ids.of(call.id), name, input: toolInput(given) },
    call,
  );
}
