import type { Json } from '../endpoint.js';
import { isObject } from '../endpoints/reading.js';
import type { ChargeRule, ChargedRequest } from './charge.js';
import { highest } from './numbers.js';

/** The fields that limit a request's output, and those that set its number of responses. */
interface OutputBounds {
  readonly most: readonly string[];
  readonly times?: readonly string[];
  /** The members of the body with these fields; absent: the body itself. */
  readonly within?: readonly string[];
}

/**
 * The bounds of Google's APIs, whose options are in `generationConfig`, in either spelling.
 * https://ai.google.dev/api/generate-content#generationconfig and https://ai.google.dev/api/interactions-api
 */
export const googleBounds: OutputBounds = {
  most: ['maxOutputTokens', 'max_output_tokens'],
  times: ['candidateCount', 'candidate_count'],
  within: ['generationConfig', 'generation_config'],
};

const SAFE_MAX = Number.MAX_SAFE_INTEGER / 4;

/**
 * Text in, text out. No tokenizer makes more tokens than the text has bytes, so the size of the body limits the input, except for content
 * referenced elsewhere (images by URL, stored files). Output is the request's maximum, or the ceiling. Providers differ in which of two
 * fields they use, so the largest counts.
 */
export const textCharge = (bounds: OutputBounds): ChargeRule => ({
  most: (request) => [{ input_tokens: request.bodyBytes, output_tokens: outputOf(bounds, request) }],
  unreported: () => 'text',
});

/**
 * A background response continues after its request has ended, and a later request reads its usage. It is charged its reservation, because
 * the client may never send that later request. https://platform.openai.com/docs/guides/background
 */
export const responsesCharge: ChargeRule = {
  ...textCharge({ most: ['max_output_tokens'] }),
  unreported: ({ background }) => (background ? 'reservation' : 'text'),
};

/**
 * Compaction has no maximum of its own, and its output is encrypted, so that it cannot be counted.
 * https://developers.openai.com/api/reference/resources/responses/methods/compact
 */
export const compactionCharge: ChargeRule = { ...textCharge({ most: [] }), unreported: () => 'reservation' };

const ofModel = textCharge(googleBounds);
const isAgentCall = ({ agent }: Json): boolean => agent !== undefined && agent !== null;

/**
 * A background interaction is charged its reservation, like a background response. An agent works for as many turns as it needs, in several
 * models, so its usage has no known maximum. https://ai.google.dev/gemini-api/docs/interactions
 */
export const interactionsCharge: ChargeRule = {
  most: (request) => (isAgentCall(request.body) ? null : ofModel.most(request)),
  unboundedBy: 'an agent',
  unreported: (body) => (body.background || isAgentCall(body) ? 'reservation' : 'text'),
};

/** Text in, no tokens out. Input other than text (tokens, images) cannot be counted. */
const inputOnly = (hasText: (body: Json) => boolean): ChargeRule => ({
  most: ({ bodyBytes }) => [{ input_tokens: bodyBytes, output_tokens: 0 }],
  unreported: (body) => (hasText(body) ? 'input' : 'reservation'),
});

const isText = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/** https://platform.openai.com/docs/api-reference/embeddings/create and https://docs.cohere.com/reference/embed */
export const embeddingsCharge = inputOnly((body) => isText(body.input ?? body.texts ?? body.inputs));

/** https://ai.google.dev/api/embeddings */
export const embedContentCharge = inputOnly((body) => {
  const requests: readonly unknown[] = Array.isArray(body.requests) ? body.requests : [body];
  return requests.every((one) => {
    const parts = isObject(one) && isObject(one.content) ? one.content.parts : null;
    return Array.isArray(parts) && parts.every((part) => isObject(part) && typeof part.text === 'string');
  });
});

/** OpenAI does not bill moderations; Mistral does. https://platform.openai.com/docs/guides/moderation */
export const moderationsCharge: ChargeRule = {
  ...inputOnly(({ input }) => isText(input)),
  freeAt: new Set(['openai', 'azure-openai']),
};

/** By the token of query and documents, or by the search. https://docs.cohere.com/docs/how-does-cohere-pricing-work */
export const rerankCharge: ChargeRule = {
  most: ({ body, bodyBytes }) => [
    { input_tokens: bodyBytes, output_tokens: 0 },
    // A price per request is charged with any usage.
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 0, output_tokens: 0, search_units: searchUnits(body, bodyBytes) },
  ],
  unreported: () => 'input',
};

/** A search has up to 100 documents, and a document of more than 500 tokens counts as several. */
const SEARCH_DOCUMENTS = 100;
const DOCUMENT_TOKENS = 500;

const searchUnits = ({ documents }: Json, bodyBytes: number): number =>
  Math.ceil(
    ((Array.isArray(documents) ? documents.length : 1) + bodyBytes / DOCUMENT_TOKENS) / SEARCH_DOCUMENTS,
  );

function outputOf(
  { most, times = [], within }: OutputBounds,
  { body, outputCeiling }: ChargedRequest,
): number {
  const places = within ? within.map((name) => body[name]).filter(isObject) : [body];
  const each = highest(places, most) ?? outputCeiling;
  const answers = (highest(places, times) ?? 1) * promptsIn(body);
  return Math.min(each * answers, SAFE_MAX);
}

/** A completion may have several prompts, each with responses of its own. A list of numbers is one prompt of tokens. */
function promptsIn({ prompt }: Json): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}
