import type { Json } from '../../../providers/endpoint.js';
import { type EndpointTexts, streamTree, type StreamTexts, textTree } from './text-tree.js';

const OF_NO_PART: StreamTexts['partOf'] = (_event, place) => place;
export const WHOLE_EVENT: readonly string[] = [''];

/** Choices, or Google's candidates, end one by one. */
export function endedItems(list: string, reason: string): StreamTexts['endsOf'] {
  return (event) => {
    const items = event[list];
    if (!Array.isArray(items)) return null;
    const ended = items.flatMap((item: Json | null, position) =>
      item?.[reason] == null ? [] : [`.${list}[${typeof item.index === 'number' ? item.index : position}]`],
    );
    return ended.length > 0 ? ended : null;
  };
}

/**
 * The texts of a message or a piece of one. Includes calls of custom tools, transcripts of audio, and other OpenAI-compatible providers'
 * reasoning: as `reasoning` (Groq, OpenRouter), in details, or in parts (Mistral). https://openrouter.ai/docs/use-cases/reasoning-tokens,
 * https://docs.mistral.ai/capabilities/reasoning
 */
export const MESSAGE = [
  ...['content', 'content[].text', 'content[].refusal', 'content[].thinking', 'content[].thinking[].text'],
  ...['content[].content', 'refusal', 'reasoning', 'reasoning_content', 'audio.transcript'],
  ...['reasoning_details[].text', 'reasoning_details[].summary'],
  ...['content_blocks[].text', 'content_blocks[].thinking'],
  ...['tool_calls[].function.arguments', 'tool_calls[].custom.input', 'function_call.arguments'],
];
export const below = (root: string, places: readonly string[]): string[] =>
  places.map((place) => `${root}.${place}`);

/**
 * A part of the content has a position of its own in each event, and clients join all of them, with pieces that are plain strings, too.
 * https://docs.mistral.ai/capabilities/reasoning
 */
const CONTENT_PART = /(\.delta\.content)\[\d+\](?:(\.thinking)(?:\[\d+\])?)?(?:\.text)?(?=$)/;

const TEXT = /\.(?:text|thinking)$/;

/** A place without the positions below the choice. */
const withoutPositions = (place: string): string => place.replaceAll(/(?<!^\.choices)\[\d+\]/g, '');

/** https://platform.openai.com/docs/api-reference/chat/create */
export const chatTexts: EndpointTexts = {
  request: textTree(...below('messages[]', MESSAGE), 'prediction.content', 'prediction.content[].text'),
  answer: textTree(...below('choices[].message', MESSAGE)),
  stream: {
    tree: streamTree({
      delta: [
        ...below('choices[].delta', MESSAGE),
        // Clients join every member of a delta, also of providers that are not known here.
        'choices[].delta.*',
        'choices[].delta.content_blocks[].delta.text',
        'choices[].delta.content_blocks[].delta.thinking',
      ],
      repeat: below('choices[].message', MESSAGE),
    }),
    partOf: (_event, place) => (place.endsWith('content') ? place : place.replace(CONTENT_PART, '$1$2')),
    runOf: (_event, place) => {
      const joined = withoutPositions(place);
      return joined !== place && TEXT.test(place) ? joined : null;
    },
    endsOf: endedItems('choices', 'finish_reason'),
    carrierOf: (event) =>
      Array.isArray(event.choices) ? { ...event, choices: event.choices.map(withoutNames) } : event,
  },
};

interface StreamedChoice {
  readonly delta?: { readonly tool_calls?: unknown } | null;
}

/** Clients join the fields of a call as they join its arguments, so its id and its name must not be sent twice. */
function withoutNames(choice: StreamedChoice | null): StreamedChoice | null {
  const calls = choice?.delta?.tool_calls;
  if (!Array.isArray(calls)) return choice;
  const bare = calls.map((call: Json | null) => {
    const { index, function: called, custom } = call ?? {};
    return {
      index,
      ...(called !== undefined && { function: { arguments: (called as Json | null)?.arguments } }),
      ...(custom !== undefined && { custom: { input: (custom as Json | null)?.input } }),
    };
  });
  return { ...choice, delta: { ...choice?.delta, tool_calls: bare } };
}

/** https://platform.openai.com/docs/api-reference/completions */
export const completions: EndpointTexts = {
  request: textTree('prompt', 'prompt[]', 'suffix'),
  answer: textTree('choices[].text'),
  stream: {
    tree: streamTree({ delta: ['choices[].text'] }),
    partOf: OF_NO_PART,
    endsOf: endedItems('choices', 'finish_reason'),
  },
};

/** The texts of an input or output item. */
export const ITEM = [
  ...['content', 'content[].text', 'content[].refusal', 'summary[].text', 'arguments', 'input', 'output'],
  ...['output[].text', 'output[].stdout', 'output[].stderr', 'queries[]', 'results[].text', 'code'],
  ...['outputs[].logs', 'action.query', 'action.queries[]', 'action.text', 'action.commands[]'],
  ...['action.command[]', 'operation.diff', 'revised_prompt', 'reason'],
];

const COMPLETE: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

const TEXT_EVENT = /^response\.(?:output_text|reasoning_text|reasoning_summary_text)\.delta$/;
const REPEATED_TEXT = /^\.(?:text|part\.text|item\..*\.text)$/;

/**
 * Clients join the texts of all messages, and those of a summary.
 * https://github.com/openai/openai-python/blob/main/README.md (`output_text`)
 */
function runOfResponse({ type, output_index, item, part }: Json, place: string): string | null {
  const isText = place === '.delta' ? TEXT_EVENT.test(String(type)) : REPEATED_TEXT.test(place);
  if (!isText) return null;
  const { type: of } = (item ?? part ?? {}) as Json;
  const kind = `${String(type)} ${String(of)} ${place}`;
  if (kind.includes('summary')) return `summary/${String(output_index)}`;
  return kind.includes('reasoning') ? 'reasoning' : 'text';
}

/** https://platform.openai.com/docs/api-reference/responses and …/responses-streaming */
export const responsesTexts: EndpointTexts = {
  request: textTree('instructions', 'input', ...below('input[]', ITEM), 'prompt.variables.**'),
  answer: textTree(...below('output[]', ITEM)),
  stream: {
    tree: streamTree({
      delta: ['delta'],
      repeat: [
        ...['text', 'refusal', 'arguments', 'input', 'code', 'part.text', 'part.refusal'],
        ...below('item', ITEM),
        ...below('response.output[]', ITEM),
      ],
    }),
    partOf: ({ output_index, content_index, summary_index, type }) =>
      `${String(output_index)}/${String(content_index ?? summary_index)}/${String(type)}`,
    runOf: runOfResponse,
    endsOf: ({ type, output_index }) => {
      if (COMPLETE.has(type)) return WHOLE_EVENT;
      return typeof type === 'string' && type.endsWith('.done') ? [`${String(output_index)}/`] : null;
    },
  },
};

/** https://platform.openai.com/docs/api-reference/audio, whose responses may be plain text and event streams. */
export const transcriptionTexts: EndpointTexts = {
  request: textTree('prompt'),
  answer: streamTree({ said: ['text', 'segments[].text'], repeat: ['segments[].tokens'] }),
  isPlain: true,
  stream: {
    tree: streamTree({ delta: ['delta'], repeat: ['text'] }),
    partOf: () => 'transcript',
    endsOf: ({ type }) => (type === 'transcript.text.done' ? WHOLE_EVENT : null),
  },
};
