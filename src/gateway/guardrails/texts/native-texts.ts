import type { Json } from '../../../providers/endpoint.js';
import { endedItems, WHOLE_EVENT } from './openai-texts.js';
import { type EndpointTexts, streamTree, textTree } from './text-tree.js';

const BLOCK = [
  'text',
  'thinking',
  'input.**',
  'content',
  'content[].text',
  'content.stdout',
  'content.stderr',
];
const SOURCE = ['source.data', 'source.content', 'source.content[].text', 'title', 'context'];
export const blockPaths = (root: string): string[] =>
  [...BLOCK, ...SOURCE].map((place) => `${root}.${place}`);

/** Clients join the text blocks of a message, and read its thinking apart. */
const OF_BLOCK = /^\.(?:delta|content_block|message\.content\[\d+\])\.(text|thinking)$/;
/** The parts of a result that stands in a block. */
const RESULT = '.content_block.content[';

/** https://docs.claude.com/en/api/messages and https://docs.claude.com/en/docs/build-with-claude/streaming */
export const messagesTexts: EndpointTexts = {
  request: textTree(
    'system',
    'system[].text',
    'messages[].content',
    ...blockPaths('messages[].content[]'),
    ...blockPaths('messages[].content[].content[]'),
  ),
  answer: textTree(...blockPaths('content[]')),
  stream: {
    tree: streamTree({
      delta: [
        'delta.text',
        'delta.thinking',
        'delta.partial_json',
        'content_block.text',
        'content_block.thinking',
      ],
      said: ['content_block.input.**', 'content_block.content[].text', ...blockPaths('message.content[]')],
    }),
    partOf: ({ index }) => `${String(index)}/`,
    runOf: ({ index }, place) => {
      const [, name] = OF_BLOCK.exec(place) ?? [];
      return name ?? (place.startsWith(RESULT) ? `${String(index)}${RESULT}` : null);
    },
    endsOf: ({ type, index }) => {
      if (type === 'content_block_stop') return [`${String(index)}/`];
      return type === 'message_delta' || type === 'message_stop' ? WHOLE_EVENT : null;
    },
    carrierOf: (event) => (event.type === 'content_block_start' ? deltaOfBlock(event) : event),
  },
};

/** A block must not start twice: the rest of its text is sent as its first piece. */
function deltaOfBlock({ index, content_block }: Json): Json {
  const { text, thinking } = content_block as Json;
  const delta = text === undefined ? { type: 'thinking_delta', thinking } : { type: 'text_delta', text };
  return { type: 'content_block_delta', index, delta };
}

const PARTS = [
  ...['text', 'executableCode.code', 'codeExecutionResult.output'],
  ...['executable_code.code', 'code_execution_result.output'],
  ...['functionCall.args.**', 'functionResponse.response.**'],
  ...['function_call.args.**', 'function_response.response.**'],
];
export const parts = (root: string): string[] => PARTS.map((place) => `${root}.parts[].${place}`);

/** Google's clients join the texts of all parts of a candidate. */
const PART = /\.parts\[\d+\]/;

/** A function call must not be sent twice. */
function withTextsAlone(event: Json): Json {
  const { candidates } = event;
  if (!Array.isArray(candidates)) return event;
  return {
    ...event,
    candidates: candidates.map((candidate: { readonly content?: { readonly parts?: unknown } } | null) => {
      const listed = candidate?.content?.parts;
      const texts = Array.isArray(listed)
        ? listed.filter((part: Json | null) => part?.text !== undefined)
        : listed;
      return candidate?.content
        ? { ...candidate, content: { ...candidate.content, parts: texts } }
        : candidate;
    }),
  };
}

/** https://ai.google.dev/api/generate-content */
export const generateContent: EndpointTexts = {
  request: textTree(...['systemInstruction', 'system_instruction', 'contents[]'].flatMap(parts)),
  answer: textTree(...parts('candidates[].content')),
  stream: {
    tree: streamTree({
      delta: ['candidates[].content.parts[].text'],
      said: parts('candidates[].content').filter((place) => !place.endsWith('.text')),
    }),
    partOf: (_event, place) => place.replace(PART, ''),
    endsOf: endedItems('candidates', 'finishReason'),
    carrierOf: withTextsAlone,
  },
};

/** https://docs.cohere.com/reference/chat and https://docs.cohere.com/reference/chat-stream */
export const chatV2: EndpointTexts = {
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
    tree: streamTree({
      delta: [
        'delta.message.content.thinking',
        'delta.message.content.text',
        'delta.message.tool_plan',
        'delta.message.tool_calls.function.arguments',
      ],
    }),
    partOf: ({ type, index }) => `${String(index)}/${partName(type)}/`,
    runOf: (_event, place) => /^\.delta\.message\.content\.(?:text|thinking)$/.exec(place)?.[0] ?? null,
    endsOf: ({ type, index }) => {
      if (type === 'message-end') return WHOLE_EVENT;
      return typeof type === 'string' && type.endsWith('-end')
        ? [`${String(index)}/${partName(type)}/`]
        : null;
    },
    carrierOf: (event) =>
      typeof event.type === 'string' ? { ...event, type: event.type.replace(/-start$/, '-delta') } : event,
  },
};

/** The common name of `content-start`, `content-delta` and `content-end`: `content`. */
const partName = (type: unknown): string =>
  typeof type === 'string' ? type.slice(0, type.lastIndexOf('-')) : '';
