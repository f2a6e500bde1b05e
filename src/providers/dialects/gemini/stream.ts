import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';
import type { Context, EventTranslator, StreamEvent, TranslatedEvent } from '../../translation.js';
import { citations, heading, nativeFields } from './answer.js';
import { googleError } from './errors.js';
import { promptBlockReason, fromGeminiFinishReason } from './finish.js';
import { annotations } from './grounding.js';
import { logprobs } from './logprobs.js';
import { extraContent } from './signature.js';
import { type Speech, SpeechReader } from './speech.js';
import { geminiServiceTier, usage } from './usage.js';

/** One candidate in progress. */
interface ChoiceState {
  readonly reader: SpeechReader;
  /** The whole text so far: the sources of a grounded response come last and count its bytes from the start. */
  text: string;
  /** The last metadata of the sources. */
  grounding: unknown;
  hasRole: boolean;
  isFinished: boolean;
}

/**
 * Gemini's stream: each event is a whole response with some more parts, calls are never split, and there is no last event. Usage grows from
 * event to event and other candidates may follow, so the response is complete only when the provider closes the stream and each candidate
 * has reported its finish reason. https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export class ChatStream implements EventTranslator {
  private readonly choices = new Map<number, ChoiceState>();
  private last: Json = {};
  private usage: Json | undefined;
  private tier: Json = {};
  private isBlocked = false;

  constructor(private readonly context: Context) {}

  event({ data }: StreamEvent): TranslatedEvent {
    const response = parsed(data);
    if (!response) return { chunks: [] };
    if (isObject(response.error)) return { chunks: [], error: failure(response) };
    this.last = { ...this.last, ...pick(response, 'responseId', 'modelVersion') };
    const reported = usage(response.usageMetadata);
    this.usage = reported ?? this.usage;
    this.tier = { ...this.tier, ...geminiServiceTier(response.usageMetadata) };
    const candidates = list(response.candidates).filter(isObject);
    const chunks = candidates.flatMap((candidate, position) => this.candidate(candidate, position));
    if (candidates.length === 0) chunks.push(...this.refusal(response.promptFeedback));
    return {
      chunks,
      ...(reported && { soFar: { usage: reported, isBeginning: reported.completion_tokens === 0 } }),
    };
  }

  end(): TranslatedEvent {
    const chunks = this.usage ? [{ ...this.chunk([]), ...this.tier, usage: this.usage }] : [];
    return { chunks, ...(this.isDone && { isDone: true }) };
  }

  private get isDone(): boolean {
    if (this.isBlocked) return true;
    const choices = [...this.choices.values()];
    return choices.length > 0 && choices.every(({ isFinished }) => isFinished);
  }

  private candidate(candidate: Json, position: number): Json[] {
    const index = count(candidate.index) ?? position;
    const choice = this.choiceOf(index);
    const speech = choice.reader.read(candidate.content);
    choice.text += speech.text;
    const isLast = typeof candidate.finishReason === 'string';
    choice.isFinished ||= isLast;
    const delta = {
      ...deltaOf(speech, this.context),
      ...this.sources(candidate, choice),
    };
    const probabilities = logprobs(candidate.logprobsResult);
    if (Object.keys(delta).length === 0 && !probabilities && !isLast) return [];
    return [
      this.chunk([
        {
          index,
          delta: { ...this.role(choice), ...delta },
          logprobs: probabilities,
          finish_reason: isLast
            ? fromGeminiFinishReason(candidate.finishReason, choice.reader.hasCalls)
            : null,
          ...(!this.context.isStrict && nativeFields(candidate)),
        },
      ]),
    ];
  }

  /** Each event may repeat the sources so far, so they are sent when the text is complete. */
  private sources({ groundingMetadata, ...candidate }: Json, choice: ChoiceState): Json {
    const recited = this.context.isStrict ? [] : citations(candidate);
    choice.grounding = groundingMetadata ?? choice.grounding;
    const cited = choice.isFinished ? annotations(choice.grounding, choice.text, []) : [];
    if (choice.isFinished) choice.grounding = null;
    return {
      ...(cited.length > 0 && { annotations: cited }),
      ...(recited.length > 0 && { citations: recited }),
    };
  }

  private choiceOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    const choice: ChoiceState = {
      reader: new SpeechReader(this.context.id),
      text: '',
      grounding: null,
      hasRole: false,
      isFinished: false,
    };
    this.choices.set(index, choice);
    return choice;
  }

  private role(choice: ChoiceState): Json {
    if (choice.hasRole) return {};
    choice.hasRole = true;
    return { role: 'assistant' };
  }

  private refusal(feedback: unknown): Json[] {
    const why = isObject(feedback) ? promptBlockReason(feedback) : null;
    if (why === null || this.isBlocked) return [];
    this.isBlocked = true;
    const delta = { role: 'assistant', refusal: why };
    return [this.chunk([{ index: 0, delta, logprobs: null, finish_reason: 'content_filter' }])];
  }

  private chunk(choices: readonly Json[]): Json {
    return { ...heading(this.last, this.context), object: 'chat.completion.chunk', choices };
  }
}

/** An event's object. A list, the format of a stream without `alt=sse`, is read as its first object. */
function parsed(data: string): Json | null {
  try {
    const value: unknown = JSON.parse(data);
    const first = Array.isArray(value) ? (value as readonly unknown[])[0] : value;
    return isObject(first) ? first : null;
  } catch {
    return null;
  }
}

function failure(response: Json) {
  const code = isObject(response.error) ? response.error.code : null;
  return googleError(count(code) ?? 500, response);
}

function deltaOf(speech: Speech, { id, isStrict }: Context): Json {
  const { text, reasoning, calls, images, audio, blocks, signature } = speech;
  return {
    ...(text !== '' && { content: text }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ index, call }) => ({ index, ...call })) }),
    ...(images.length > 0 && { images }),
    ...(audio.length > 0 && { audio: { id, data: joined(audio) } }),
    ...(!isStrict && blocks.length > 0 && { content_blocks: blocks.map(blockDelta) }),
    ...(!isStrict && signature !== undefined && { extra_content: extraContent(signature) }),
  };
}

const blockDelta = ({ index, kind, value }: Speech['blocks'][number]): Json => ({
  index,
  delta: { [kind]: value },
});

const joined = (parts: readonly string[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString('base64');

const pick = (object: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(
    names.filter((name) => typeof object[name] === 'string').map((name) => [name, object[name]]),
  );
