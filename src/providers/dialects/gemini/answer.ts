import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { promptBlockReason, fromGeminiFinishReason } from './finish.js';
import { annotations } from './grounding.js';
import { logprobs } from './logprobs.js';
import { extraContent } from './signature.js';
import { type SpeechBlock, type Speech, SpeechReader } from './speech.js';
import { geminiServiceTier, usage } from './usage.js';

/**
 * Gemini's response in the hub's format. Generated images are `message.images`, a list of `{type: "image_url", image_url: {url}}` as in
 * other gateways, strict or not: the client requested them. Thoughts are `message.reasoning_content`. When not strict, also
 * `message.content_blocks`, the signature of the text (`message.extra_content`), `message.citations`, and the fields of a candidate that
 * the hub lacks. https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function fromGeminiChat(answer: Json, context: Context): Json {
  const candidates = list(answer.candidates).filter(isObject);
  const reported = usage(answer.usageMetadata);
  return {
    ...heading(answer, context),
    object: 'chat.completion',
    choices:
      candidates.length > 0
        ? candidates.map((one, position) => choice(one, position, context))
        : refusal(answer),
    ...geminiServiceTier(answer.usageMetadata),
    ...(reported && { usage: reported }),
  };
}

/** Fields that responses and chunks share: the provider's own id and model version, if it reports them. */
export function heading({ responseId, modelVersion }: Json, { id, model, created }: Context): Json {
  return {
    id: typeof responseId === 'string' && responseId !== '' ? responseId : id,
    created,
    model: typeof modelVersion === 'string' && modelVersion !== '' ? modelVersion : model,
  };
}

function choice(candidate: Json, position: number, context: Context): Json {
  const reader = new SpeechReader(context.id);
  const speech = reader.read(candidate.content);
  const reason = fromGeminiFinishReason(candidate.finishReason, reader.hasCalls);
  return {
    index: count(candidate.index) ?? position,
    message: {
      role: 'assistant',
      ...message(candidate, speech, context),
      ...unstrict(candidate, speech, context),
    },
    logprobs: logprobs(candidate.logprobsResult),
    finish_reason: reason,
    ...(!context.isStrict && nativeFields(candidate)),
  };
}

function message(candidate: Json, speech: Speech, context: Context): Json {
  const cited = annotations(candidate.groundingMetadata, speech.text, offsetsOf(candidate.content));
  return {
    ...choiceOf(candidate.finishMessage, speech),
    ...(speech.reasoning !== '' && { reasoning_content: speech.reasoning }),
    ...(speech.calls.length > 0 && { tool_calls: speech.calls.map(({ call }) => call) }),
    ...(speech.images.length > 0 && { images: speech.images }),
    ...(speech.audio.length > 0 && { audio: audioOf(speech.audio, context) }),
    ...(cited.length > 0 && { annotations: cited }),
  };
}

/** Without any content, Gemini may report the reason. */
function choiceOf(why: unknown, { text, calls, images, audio }: Speech): Json {
  const isSilent = calls.length + images.length + audio.length === 0;
  if (text !== '' || !isSilent) return { content: text === '' ? null : text, refusal: null };
  return typeof why === 'string' ? { content: null, refusal: why } : { content: '', refusal: null };
}

/** The audio is not stored: it expires when it is created. https://platform.openai.com/docs/guides/audio */
function audioOf(parts: readonly string[], { id, created }: Context): Json {
  const data = Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString('base64');
  return { id, data, transcript: '', expires_at: created };
}

function unstrict(candidate: Json, { blocks, signature }: Speech, { isStrict }: Context): Json {
  if (isStrict) return {};
  const cited = citations(candidate);
  return {
    ...(blocks.some(({ kind }) => kind === 'thinking') && { content_blocks: wholeBlocks(blocks) }),
    ...(signature !== undefined && { extra_content: extraContent(signature) }),
    ...(cited.length > 0 && { citations: cited }),
  };
}

function wholeBlocks(blocks: readonly SpeechBlock[]): Json[] {
  const texts = new Map<number, { kind: SpeechBlock['kind']; text: string }>();
  for (const { index, kind, value } of blocks) {
    texts.set(index, { kind, text: (texts.get(index)?.text ?? '') + value });
  }
  return [...texts.values()].map(({ kind, text }) => ({ type: kind, [kind]: text }));
}

/** Sources of recited text, in the spelling of either service. https://ai.google.dev/api/generate-content#citationmetadata */
export function citations({ citationMetadata }: Json): readonly unknown[] {
  if (!isObject(citationMetadata)) return [];
  return list(citationMetadata.citationSources ?? citationMetadata.citations);
}

const NATIVE = ['groundingMetadata', 'urlContextMetadata', 'safetyRatings', 'avgLogprobs'] as const;

/** A candidate's fields that the hub lacks, under Google's own names, and its own finish reason. */
export function nativeFields(candidate: Json): Json {
  const { finishReason: reason } = candidate;
  return {
    ...(typeof reason === 'string' && { native_finish_reason: reason }),
    ...Object.fromEntries(NATIVE.filter((name) => name in candidate).map((name) => [name, candidate[name]])),
  };
}

/** A response without candidates: the prompt was blocked. */
function refusal({ promptFeedback }: Json): Json[] {
  const why = isObject(promptFeedback) ? promptBlockReason(promptFeedback) : null;
  if (why === null) return [];
  const message = { role: 'assistant', content: null, refusal: why };
  return [{ index: 0, message, logprobs: null, finish_reason: 'content_filter' }];
}

/** The offset of each part's text in the response's, in bytes. */
function offsetsOf(content: unknown): number[] {
  const offsets: number[] = [];
  let bytes = 0;
  for (const part of list(isObject(content) ? content.parts : null)) {
    offsets.push(bytes);
    const isText = isObject(part) && typeof part.text === 'string' && part.thought !== true;
    if (isText) bytes += Buffer.byteLength(part.text as string);
  }
  return offsets;
}
