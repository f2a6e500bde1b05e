import type { EndpointId, Json } from './endpoint.js';

/**
 * Translation between dialects, in two halves that meet in the middle.
 *
 * The middle ("the hub") is OpenAI's own shape of each endpoint: chat completions for everything that talks, and
 * OpenAI's embeddings, images and so on. `docs/dialects.md` lists what the hub adds to OpenAI's shape so that nothing
 * a provider says gets lost: reasoning with signatures, citations, cache marks.
 *
 *   client ── ClientShape ──► hub ── Translator ──► provider
 *   client ◄── ClientShape ── hub ◄── Translator ── provider
 *
 * A client's shape is needed where a provider has not that endpoint itself (Anthropic's messages asked of Gemini); a
 * translator, where a provider's dialect has not the hub's endpoint. Where a provider has the very endpoint that the
 * client asked for, neither is: bytes pass untouched.
 *
 * Everything here is pure: no clock, no randomness, no I/O. What changes from call to call is in `Context`.
 */

/** What a translation may know of the request besides its body. */
export interface Context {
  /** Id of the exchange, for answers whose provider gives none. */
  readonly id: string;
  /** Seconds since the epoch, for answers whose provider says no time. */
  readonly created: number;
  /** As the client asked for it, without a `@slug/`. */
  readonly model: string;
  readonly isStreamed: boolean;
  /** The fields of the virtual key, or those that came as `x-gateway-<name>`: project, region, deployment. */
  readonly fields: Readonly<Record<string, string>>;
  /** `x-gateway-strict-open-ai-compliance`: true leaves out of an answer what OpenAI's shape has not. */
  readonly isStrict: boolean;
}

/** Sound, a picture or another file, whole: what a client uploaded, or an answer that is no JSON. */
export class MediaFile {
  constructor(
    readonly contentType: string,
    readonly bytes: Uint8Array,
    /** As the client named it; empty where the client named none. */
    readonly fileName = '',
  ) {}
}

/** A multipart form: https://www.rfc-editor.org/rfc/rfc7578. Names may come more than once. */
export class Form {
  constructor(readonly parts: readonly (readonly [name: string, value: string | MediaFile])[]) {}
}

/** A request in a provider's own dialect. */
export interface ProviderRequest {
  /** Below the provider's base URL, with its query: `/messages`. Values from outside are percent-encoded. */
  readonly path: string;
  readonly body: Json | Form | MediaFile;
  /** Names and values in turn, besides credentials and content type. */
  readonly headers?: readonly string[];
}

/** One whose body is JSON. */
export interface JsonRequest extends ProviderRequest {
  readonly body: Json;
}

/** An error in the hub's shape: OpenAI's `error` object. https://platform.openai.com/docs/guides/error-codes */
export interface HubError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** One event of a provider's stream, whatever its framing. */
export interface StreamEvent {
  /** The `event` field, or the `:event-type` of AWS; null where the framing has none. */
  readonly event: string | null;
  readonly data: string;
}

/**
 * How a provider frames its streams: server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html), a JSON object per line, or Amazon's binary frames
 * (https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html).
 */
export type Framing = 'sse' | 'json-lines' | 'aws-event-stream';

/** A header of an answer by its name in lower case; null where it has none. */
export type HeaderOf = (name: string) => string | null;

/** One endpoint of the hub in a provider's dialect. */
export interface Translator {
  /**
   * The provider has it beside its base URL: the path is below the origin. A host of the caller's own is another server,
   * which is sent the client's bytes.
   */
  readonly isBesideBase?: true;
  /**
   * The hub's request in the provider's words. Unknown parameters go along under their own names; one that the hub
   * knows and the provider cannot do throws `AppError('parameter_unsupported', { parameter, detail })`. Of a form, `hub` has
   * texts and `MediaFile`s, in a list where the name came more than once or ends with `[]`, which it loses.
   */
  request(hub: Json, context: Context): ProviderRequest;
  /**
   * The provider's answer in the hub's words; `hub` is what was asked. A bare list comes as `{ items }`. Never throws,
   * whatever the provider sent.
   */
  answer(answer: Json, context: Context, hub?: Json): Json;
  /** The hub's `usage` of an answer that reports it in its headers; null where they have none. Absent: they never have. */
  usageIn?(header: HeaderOf): Json | null;
  /**
   * Answers that are no JSON: they pass to the client as they come, or become the hub's answer. Absent where the provider
   * gives none.
   */
  readonly media?: 'passes' | ((answer: MediaFile, context: Context) => Json);
  /**
   * The provider's refusal. `body` is null when it was no JSON object; `header` gives the answer's header of a name in lower case,
   * or null. Never throws.
   */
  error(status: number, body: Json | null, header?: HeaderOf): HubError;
  /** Absent where the provider cannot stream. */
  readonly stream?: {
    readonly framing: Framing;
    open(context: Context): EventTranslator;
  };
}

/** Usage that a stream tells before its end, for an answer that never gets there. */
export interface UsageSoFar {
  /** The hub's `usage`. */
  readonly usage: Json;
  /** The output was still to come. */
  readonly isBeginning: boolean;
}

/** What one event, or the end of a stream, becomes. */
export interface TranslatedEvent {
  /** Objects of the hub's stream, `chat.completion.chunk` and the like, in order. */
  readonly chunks: readonly Json[];
  /** What the provider has reported of its usage by now, besides the chunk that reports it to the client. */
  readonly soFar?: UsageSoFar;
  /** The provider broke off with an error. Nothing that comes after is read. */
  readonly error?: HubError;
  /** The provider said that the answer is complete. */
  readonly isDone?: boolean;
  /**
   * Set by a translator for an event that says one text, as most of a stream do: an event with another text, of at least a
   * character, and otherwise the same bytes would become the same chunk with the other text in its place. Such an event need not be
   * translated; this receives its text instead, until the next one that is.
   */
  readonly again?: (text: string) => void;
}

/** An event that says nothing. */
export const NOTHING: TranslatedEvent = { chunks: [] };

/** For `again`, where nothing that comes later depends on the text. */
export const UNNOTED = (): void => undefined;

/** The state of one stream on its way to the hub. Never throws: an event that is not understood becomes no chunk. */
export interface EventTranslator {
  event(event: StreamEvent): TranslatedEvent;
  /** The provider closed the stream. `isDone` or `error` must have come by now, or the answer was cut. */
  end(): TranslatedEvent;
}

/** A client's own shape of chat: `messages` of Anthropic, `responses` of OpenAI. */
export interface ClientShape {
  readonly endpoint: EndpointId;
  /** The endpoint of the hub that it is translated to; chat completions where it says nothing. */
  readonly hub?: EndpointId;
  /** The client's request in the hub's words. Throws `AppError('invalid_request' | 'parameter_unsupported')`. */
  request(body: Json, context: Context): Json;
  /** The hub's answer in the client's words. `asked` is the client's own request, parts of which some shapes repeat. */
  answer(hub: Json, asked: Json, context: Context): Json;
  /** The whole body of a refusal, in the client's words. */
  error(error: HubError, status: number): Json;
  open(asked: Json, context: Context): ChunkTranslator;
}

/** The state of one stream on its way from the hub to the client. */
export interface ChunkTranslator {
  chunk(hub: Json): readonly StreamEvent[];
  /**
   * Where two chunks differ in a text alone, and so do the events that they became, then further such chunks become such events,
   * and nothing has to be kept of them. Absent where each event differs, as by a number.
   */
  readonly isUniform?: true;
  /** The answer is complete. */
  end(): readonly StreamEvent[];
  /** The answer broke off; says so in the client's words. */
  fail(error: HubError): readonly StreamEvent[];
}
