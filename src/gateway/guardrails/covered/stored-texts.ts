import { WHOLE_EVENTS } from '../texts/endpoint-texts.js';
import { blockPaths, parts } from '../texts/native-texts.js';
import { below, chatTexts, WHOLE_EVENT, ITEM, MESSAGE } from '../texts/openai-texts.js';
import { type EndpointTexts, streamTree, type StreamTexts, textTree } from '../texts/text-tree.js';

/** A response of its own, or a list of such responses in `data`. */
const oneOrMany = (...places: string[]): readonly string[] => [...places, ...below('data[]', places)];

const stored = (...places: readonly string[]): EndpointTexts => ({
  request: null,
  answer: textTree(...places),
  stream: WHOLE_EVENTS,
});

/** A file of JSON Lines, each with a response of its own. */
const lines = (...places: readonly string[]): EndpointTexts => ({
  ...stored(...places),
  stream: { ...WHOLE_EVENTS, tree: textTree(...places) },
});

/** https://platform.openai.com/docs/api-reference/chat/list */
export const storedChat: EndpointTexts = {
  ...chatTexts,
  request: null,
  answer: textTree(...oneOrMany(...below('choices[].message', MESSAGE))),
};

/** https://platform.openai.com/docs/api-reference/chat/getMessages */
export const storedChatMessages = stored(...below('data[]', MESSAGE));

/** https://docs.perplexity.ai/api-reference/async-sonar-api-request-get */
export const asynchronousChat = stored(...below('response.choices[].message', MESSAGE));

/** https://platform.openai.com/docs/api-reference/responses/input-items */
export const storedItems = stored(...oneOrMany(...ITEM));

/**
 * Conversations of OpenAI, which consist of items, and of Mistral, which share the paths.
 * https://platform.openai.com/docs/api-reference/conversations, https://docs.mistral.ai/api/endpoint/beta/conversations
 */
export const conversations = stored(
  ...oneOrMany(...ITEM),
  ...['outputs[]', 'entries[]', 'messages[]'].flatMap((root) =>
    below(root, ['content', 'content[].text', 'arguments']),
  ),
);

const TOOL_CALL = [
  'function.arguments',
  'function.output',
  'code_interpreter.input',
  'code_interpreter.outputs[].logs',
];
const THREAD_PLACES = [
  'content[].text.value',
  'content[].refusal',
  ...below('step_details.tool_calls[]', TOOL_CALL),
  ...below('required_action.submit_tool_outputs.tool_calls[]', TOOL_CALL),
];

const threadStream: StreamTexts = {
  tree: streamTree({ delta: below('delta', THREAD_PLACES), repeat: THREAD_PLACES }),
  partOf: ({ id }, place) => `${String(id)}/${place}`,
  runOf: ({ id }, place) => (/\.content\[\d+\]\.text\.value$/.test(place) ? String(id) : null),
  endsOf: ({ object }) =>
    typeof object === 'string' && !object.endsWith('.delta') && object !== 'thread.message.delta'
      ? WHOLE_EVENT
      : null,
};

/** https://platform.openai.com/docs/api-reference/messages, …/run-steps and …/assistants-streaming */
export const threads: EndpointTexts = {
  request: null,
  answer: textTree(...oneOrMany(...THREAD_PLACES)),
  stream: threadStream,
};

/** https://platform.openai.com/docs/api-reference/evals/run-output-item-object */
export const evaluations = stored(
  ...oneOrMany('sample.output[].content', 'sample.input[].content', 'datasource_item.**'),
);

/** https://docs.claude.com/en/api/retrieving-message-batch-results */
export const messageBatchResults = lines(...blockPaths('result.message.content[]'));

/** The lines of a batch's output: https://platform.openai.com/docs/guides/batch */
const OUTPUT_LINE = below('response.body', [
  ...below('choices[].message', MESSAGE),
  'choices[].text',
  ...below('output[]', ITEM),
]);

export const batchOutput = lines(...OUTPUT_LINE);

/** A file may be the output of a batch, or any text. */
export const storedFileTexts: EndpointTexts = { ...batchOutput, isPlain: true };

/** Batches of Google contain the responses: https://ai.google.dev/api/batch-api */
export const batches = stored(
  ...['response', 'output', 'dest'].flatMap((root) =>
    parts(`${root}.inlinedResponses.inlinedResponses[].response.candidates[].content`),
  ),
);

/** Objects without a place where model text is expected. Their strings are searched all the same. */
export const untypedObjects = stored();
