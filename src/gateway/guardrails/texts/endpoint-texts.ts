import type { EndpointId } from '../../../providers/endpoint.js';
import { interactions } from './interaction-texts.js';
import { chatV2, generateContent, messagesTexts } from './native-texts.js';
import { chatTexts, completions, responsesTexts, transcriptionTexts } from './openai-texts.js';
import { type EndpointTexts, type StreamTexts, textTree } from './text-tree.js';

/** A stream without known parts: each of its texts stands alone. */
export const WHOLE_EVENTS: StreamTexts = {
  tree: textTree(),
  partOf: (_event, place) => place,
  endsOf: () => null,
};

/** Endpoints with texts in the request and another kind of response, such as vectors, possibly with texts beside it. */
const asking = (...places: string[]): EndpointTexts => ({
  request: textTree(...places),
  answer: textTree(),
  stream: WHOLE_EVENTS,
});

/** The text of documents. Their parts, and words with confidence scores, repeat it. https://docs.mistral.ai/api/endpoint/ocr */
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
  stream: WHOLE_EVENTS,
};

const imageTexts: EndpointTexts = {
  request: textTree('prompt'),
  answer: textTree('data[].revised_prompt'),
  stream: WHOLE_EVENTS,
};

/**
 * Endpoints whose texts guardrails read. Every string of their bodies is checked; these tables list which of them are messages, and how
 * streams continue them. Requests and responses of other endpoints are judged by headers and model only.
 */
export const ENDPOINT_TEXTS: { readonly [Id in EndpointId]?: EndpointTexts } = {
  'chat-completions': chatTexts,
  completions,
  'fim-completions': { ...chatTexts, request: completions.request },
  'agent-completions': chatTexts,
  'chat-v2': chatV2,
  messages: messagesTexts,
  responses: responsesTexts,
  compaction: responsesTexts,
  'generate-content': generateContent,
  interactions,
  'count-tokens': { ...messagesTexts, answer: textTree() },
  embeddings: asking('input', 'input[]'),
  'embed-content': asking('content.parts[].text', 'requests[].content.parts[].text'),
  rerank: asking('query', 'documents[]', 'documents[].text'),
  'embed-v2': asking('texts[]', 'inputs[].content[].text'),
  'rerank-v2': asking('query', 'documents[]'),
  moderations: asking('input', 'input[]', 'input[].text'),
  ocr,
  'image-generations': imageTexts,
  'image-edits': imageTexts,
  'image-variations': imageTexts,
  // The response is audio.
  speech: { request: textTree('input', 'instructions'), answer: null, stream: WHOLE_EVENTS },
  transcriptions: transcriptionTexts,
  translations: transcriptionTexts,
  'vector-stores': { request: null, answer: textTree('data[].content[].text'), stream: WHOLE_EVENTS },
};
