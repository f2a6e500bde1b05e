import type { EndpointId, Json } from '../../../providers/endpoint.js';
import { type TextTree, textTree } from './text-tree.js';

/** How the events of a stream carry texts. */
export interface StreamTexts {
  /** Texts that continue a part of the answer. */
  readonly deltas: TextTree;
  /** Texts that repeat a part as a whole. */
  readonly wholes: TextTree;
  /** Which part an event is about, where the place of its text does not tell. */
  partOf(event: Json): string;
  /** The beginnings of the names of parts that are complete with this event; null when none is. */
  endsOf(event: Json): readonly string[] | null;
}

/** Where the texts of an endpoint stand: in requests, in plain answers, in streams. Null where it has none. */
export interface EndpointTexts {
  readonly request: TextTree;
  readonly answer: TextTree | null;
  readonly stream: StreamTexts | null;
}

const OF_NO_PART = (): string => '';
const EVERYTHING: readonly string[] = [''];

/** Choices, or Google's candidates, end one by one. */
function endedItems(list: string, reason: string): StreamTexts['endsOf'] {
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
 * What a message, or a piece of one, says besides its content, refusal and calls of functions: calls of custom tools, what its sound
 * says, and the reasoning of other providers of this shape, as `reasoning` (Groq, OpenRouter), in details, or, of Mistral, in parts.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens, https://docs.mistral.ai/capabilities/reasoning
 */
const BESIDE = [
  'reasoning',
  'reasoning_details[].text',
  'reasoning_details[].summary',
  'content[].thinking',
  'content[].thinking[].text',
  'tool_calls[].custom.input',
  'audio.transcript',
];
const beside = (root: string): string[] => BESIDE.map((place) => `${root}.${place}`);

/** https://platform.openai.com/docs/api-reference/chat/create */
const chat: EndpointTexts = {
  request: textTree(
    'messages[].content',
    'messages[].content[].text',
    'messages[].content[].refusal',
    'messages[].content[].content',
    'messages[].refusal',
    'messages[].reasoning_content',
    'messages[].content_blocks[].text',
    'messages[].content_blocks[].thinking',
    'messages[].tool_calls[].function.arguments',
    'messages[].function_call.arguments',
    ...beside('messages[]'),
    'prediction.content',
    'prediction.content[].text',
  ),
  answer: textTree(
    'choices[].message.reasoning_content',
    'choices[].message.content',
    'choices[].message.content[].text',
    'choices[].message.content_blocks[].text',
    'choices[].message.content_blocks[].thinking',
    'choices[].message.refusal',
    'choices[].message.tool_calls[].function.arguments',
    'choices[].message.function_call.arguments',
    ...beside('choices[].message'),
  ),
  stream: {
    deltas: textTree(
      'choices[].delta.reasoning_content',
      'choices[].delta.content',
      'choices[].delta.content[].text',
      'choices[].delta.refusal',
      'choices[].delta.tool_calls[].function.arguments',
      'choices[].delta.function_call.arguments',
      'choices[].delta.content_blocks[].delta.text',
      'choices[].delta.content_blocks[].delta.thinking',
      ...beside('choices[].delta'),
    ),
    wholes: textTree(),
    partOf: OF_NO_PART,
    endsOf: endedItems('choices', 'finish_reason'),
  },
};

const completions: EndpointTexts = {
  request: textTree('prompt', 'prompt[]', 'suffix'),
  answer: textTree('choices[].text'),
  stream: {
    deltas: textTree('choices[].text'),
    wholes: textTree(),
    partOf: OF_NO_PART,
    endsOf: endedItems('choices', 'finish_reason'),
  },
};

/** https://docs.claude.com/en/api/messages and https://docs.claude.com/en/docs/build-with-claude/streaming */
const messages: EndpointTexts = {
  request: textTree(
    'system',
    'system[].text',
    'messages[].content',
    'messages[].content[].text',
    'messages[].content[].thinking',
    'messages[].content[].content',
    'messages[].content[].content[].text',
    'messages[].content[].input.**',
    'messages[].content[].source.data',
    'messages[].content[].title',
    'messages[].content[].context',
  ),
  answer: textTree('content[].thinking', 'content[].text', 'content[].input.**'),
  stream: {
    deltas: textTree('delta.text', 'delta.thinking', 'delta.partial_json'),
    wholes: textTree('content_block.text', 'content_block.thinking'),
    partOf: ({ index }) => `${String(index)}/`,
    endsOf: ({ type, index }) => {
      if (type === 'content_block_stop') return [`${String(index)}/`];
      return type === 'message_delta' || type === 'message_stop' ? EVERYTHING : null;
    },
  },
};

const COMPLETE: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
const ITEM = ['content[].text', 'content[].refusal', 'summary[].text', 'arguments', 'input'];
const below = (root: string): string[] => ITEM.map((place) => `${root}.${place}`);

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const responses: EndpointTexts = {
  request: textTree(
    'instructions',
    'input',
    'input[].content',
    'input[].content[].text',
    'input[].content[].refusal',
    'input[].summary[].text',
    'input[].arguments',
    'input[].input',
    'input[].output',
    'input[].output[].text',
    'prompt.variables.**',
  ),
  answer: textTree(...below('output[]')),
  stream: {
    deltas: textTree('delta'),
    wholes: textTree(
      'text',
      'refusal',
      'arguments',
      'input',
      'part.text',
      'part.refusal',
      ...below('item'),
      ...below('response.output[]'),
    ),
    partOf: ({ output_index, content_index, summary_index, type }) =>
      `${String(output_index)}/${String(content_index ?? summary_index)}/${String(type)}`,
    endsOf: ({ type, output_index }) => {
      if (COMPLETE.has(type)) return EVERYTHING;
      return typeof type === 'string' && type.endsWith('.done') ? [`${String(output_index)}/`] : null;
    },
  },
};

/** https://ai.google.dev/api/generate-content */
const generateContent: EndpointTexts = {
  request: textTree(
    'systemInstruction.parts[].text',
    'system_instruction.parts[].text',
    'contents[].parts[].text',
    'contents[].parts[].functionCall.args.**',
    'contents[].parts[].functionResponse.response.**',
    'contents[].parts[].function_response.response.**',
  ),
  answer: textTree('candidates[].content.parts[].text', 'candidates[].content.parts[].functionCall.args.**'),
  stream: {
    deltas: textTree('candidates[].content.parts[].text'),
    wholes: textTree('candidates[].content.parts[].functionCall.args.**'),
    partOf: OF_NO_PART,
    endsOf: endedItems('candidates', 'finishReason'),
  },
};

/** https://docs.cohere.com/reference/chat and https://docs.cohere.com/reference/chat-stream */
const chatV2: EndpointTexts = {
  request: textTree(
    'messages[].content',
    'messages[].content[].text',
    'messages[].content[].thinking',
    'messages[].content[].document.data.**',
    'messages[].tool_plan',
    'messages[].tool_calls[].function.arguments',
    'documents[]',
    'documents[].data.**',
  ),
  answer: textTree(
    'message.content[].thinking',
    'message.content[].text',
    'message.tool_plan',
    'message.tool_calls[].function.arguments',
  ),
  stream: {
    deltas: textTree(
      'delta.message.content.thinking',
      'delta.message.content.text',
      'delta.message.tool_plan',
      'delta.message.tool_calls.function.arguments',
    ),
    wholes: textTree(),
    partOf: ({ type, index }) => `${String(index)}/${partName(type)}/`,
    endsOf: ({ type, index }) => {
      if (type === 'message-end') return EVERYTHING;
      return typeof type === 'string' && type.endsWith('-end')
        ? [`${String(index)}/${partName(type)}/`]
        : null;
    },
  },
};

/** `content` of `content-start`, `content-delta` and `content-end`. */
const partName = (type: unknown): string =>
  typeof type === 'string' ? type.slice(0, type.lastIndexOf('-')) : '';

/** What documents say, which their parts, and words that are rated, say again. https://docs.mistral.ai/api/endpoint/ocr */
const ocr: EndpointTexts = {
  request: textTree('document_annotation_prompt'),
  answer: textTree(
    'document_annotation',
    'pages[].markdown',
    'pages[].header',
    'pages[].footer',
    'pages[].hyperlinks[]',
    'pages[].tables[].content',
    'pages[].tables[].word_confidence_scores[].text',
    'pages[].blocks[].content',
    'pages[].images[].image_annotation',
    'pages[].confidence_scores.word_confidence_scores[].text',
  ),
  stream: null,
};

/** Endpoints whose requests have texts and whose answers have none. */
const asking = (...places: string[]): EndpointTexts => ({
  request: textTree(...places),
  answer: null,
  stream: null,
});

/** The endpoints that guardrails look at. Requests of others are judged by their headers and model alone. */
export const ENDPOINT_TEXTS: { readonly [Id in EndpointId]?: EndpointTexts } = {
  'chat-completions': chat,
  completions,
  'fim-completions': { ...chat, request: completions.request },
  'agent-completions': chat,
  'chat-v2': chatV2,
  messages,
  responses,
  'generate-content': generateContent,
  'count-tokens': { ...messages, answer: null, stream: null },
  embeddings: asking('input', 'input[]'),
  'embed-content': asking('content.parts[].text', 'requests[].content.parts[].text'),
  rerank: asking('query', 'documents[]', 'documents[].text'),
  'embed-v2': asking('texts[]', 'inputs[].content[].text'),
  'rerank-v2': asking('query', 'documents[]'),
  moderations: asking('input', 'input[]', 'input[].text'),
  ocr,
  'image-generations': asking('prompt'),
  speech: asking('input', 'instructions'),
};

/** A stream in which no texts are known. */
export const NO_STREAM_TEXTS: StreamTexts = {
  deltas: textTree(),
  wholes: textTree(),
  partOf: OF_NO_PART,
  endsOf: () => null,
};
