import type { EndpointId, Json } from './endpoint.js';

/**
 * Translation between dialects, in two halves that meet in the middle.
 *
 * The middle ("the hub") is OpenAI's own format of each endpoint: chat completions for all text generation, and OpenAI's embeddings, images
 * and so on. `docs/dialects.md` lists the hub's additions to OpenAI's format, which keep everything that a provider sends: reasoning with
 * signatures, citations, cache marks.
 *
 *   client ── ClientFormat ──► hub ── Translator ──► provider
 *   client ◄── ClientFormat ── hub ◄── Translator ── provider
 *
 * A client format is needed if a provider lacks the endpoint itself (Anthropic's messages for Gemini); a translator, if a provider's
 * dialect lacks the hub's endpoint. If a provider has the client's endpoint itself, neither is needed: bytes pass unchanged.
 *
 * Everything here is pure: no clock, no randomness, no I/O. Values that differ from request to request are in `Context`.
 */

/** Facts of the request besides its body. */
export interface Context {
  /** Id of the exchange, for responses whose provider sends none. */
  readonly id: string;
  /** Seconds since the epoch, for responses whose provider sends no time. */
  readonly created: number;
  /** As the client requested it, without a `@slug/`. */
  readonly model: string;
  readonly isStreamed: boolean;
  /** The fields of the virtual key, or those sent as `x-gateway-<name>`: project, region, deployment. */
  readonly fields: Readonly<Record<string, string>>;
  /** `x-gateway-strict-open-ai-compliance`: if true, responses contain only OpenAI's own fields. */
  readonly isStrict: boolean;
}

/** A whole audio, image or other file: a client's upload, or a response that is not JSON. */
export class MediaFile {
  constructor(
    readonly contentType: string,
    readonly bytes: Uint8Array,
    /** As the client named it; empty if it named none. */
    readonly fileName = '',
  ) {}
}

/** A multipart form: https://www.rfc-editor.org/rfc/rfc7578. Names may occur more than once. */
export class FormUpload {
  constructor(readonly parts: readonly (readonly [name: string, value: string | MediaFile])[]) {}
}

/** A request in a provider's own dialect. */
export interface ProviderRequest {
  /** Below the provider's base URL, with its query: `/messages`. External values are percent-encoded. */
  readonly path: string;
  readonly body: Json | FormUpload | MediaFile;
  /** Names and values in turn, besides credentials and content type. */
  readonly headers?: readonly string[];
}

/** A provider request with a JSON body. */
export interface JsonRequest extends ProviderRequest {
  readonly body: Json;
}

/** An error in the hub's format: OpenAI's `error` object. https://platform.openai.com/docs/guides/error-codes */
export interface HubError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** One event of a provider's stream, whatever its framing. */
export interface StreamEvent {
  /** The `event` field, or AWS's `:event-type`; null if the framing has none. */
  readonly event: string | null;
  readonly data: string;
}

/**
 * How a provider frames its streams: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), a JSON object per
 * line, or Amazon's binary frames (https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html).
 */
export type Framing = 'sse' | 'json-lines' | 'aws-event-stream';

/** A response header by its name in lower case; null without one. */
export type HeaderOf = (name: string) => string | null;

/** One endpoint of the hub in a provider's dialect. */
export interface Translator {
  /**
   * The provider has it beside its base URL: the path is below the origin. A caller's custom host is another server, which receives the
   * client's bytes.
   */
  readonly isBesideBase?: true;
  /**
   * Whether a request already has the provider's own format, by fields that the hub lacks: it and its response pass unchanged. Absent if
   * the provider has another path for its own format. Never throws.
   */
  isOwnFormat?(body: Json): boolean;
  /**
   * The hub's request in the provider's format. Unknown parameters are passed on under their own names; a parameter of the hub that the
   * provider does not support throws `AppError('parameter_unsupported', { parameter, detail })`. For a form, `hub` has texts and
   * `MediaFile`s, in a list if the name occurs more than once or ends with `[]`, which is removed.
   */
  request(hub: Json, context: Context): ProviderRequest;
  /**
   * The provider's response in the hub's format; `hub` is the request. A bare list arrives as `{ items }`. Never throws, whatever the
   * provider sent.
   */
  answer(answer: Json, context: Context, hub?: Json): Json;
  /** The hub's `usage` of a response with usage in its headers; null without one. Absent: responses never have it. */
  usageIn?(header: HeaderOf): Json | null;
  /** Responses that are not JSON: they pass to the client unchanged, or become the hub's response. Absent if the provider has none. */
  readonly media?: 'passes' | ((answer: MediaFile, context: Context) => Json);
  /**
   * The provider's error. `body` is null when it was not a JSON object; `header` returns a response header by its name in lower case, or
   * null. Never throws.
   */
  error(status: number, body: Json | null, header?: HeaderOf): HubError;
  /** Absent if the provider cannot stream. */
  readonly stream?: {
    readonly framing: Framing;
    open(context: Context): EventTranslator;
  };
}

/** Usage that a stream reports before its end, for a response that breaks off. */
export interface UsageSoFar {
  /** The hub's `usage`. */
  readonly usage: Json;
  /** The usage is from before the output. */
  readonly isBeginning: boolean;
}

/** The translation of one event, or of the end of a stream. */
export interface TranslatedEvent {
  /** Objects of the hub's stream, `chat.completion.chunk` and the like, in order. */
  readonly chunks: readonly Json[];
  /** The usage that the provider has reported so far, besides the chunk that reports it to the client. */
  readonly soFar?: UsageSoFar;
  /** The provider broke off with an error. Nothing after it is read. */
  readonly error?: HubError;
  /** The provider marked the response as complete. */
  readonly isDone?: boolean;
  /**
   * Set by a translator for an event with a single text, as most of a stream are: an event with another, non-empty text and otherwise the
   * same bytes would become the same chunk with that text. Such an event need not be translated; this function receives its text instead,
   * until the next translated event.
   */
  readonly again?: (text: string) => void;
}

/** An event that adds nothing. */
export const NOTHING: TranslatedEvent = { chunks: [] };

/** For `again`, if nothing later depends on the text. */
export const UNNOTED = (): void => undefined;

/** The state of one stream on its way to the hub. Never throws: an event that cannot be parsed becomes no chunk. */
export interface EventTranslator {
  event(event: StreamEvent): TranslatedEvent;
  /** The provider closed the stream. Without an earlier `isDone` or `error`, the response was truncated. */
  end(): TranslatedEvent;
}

/** A client's own chat format: Anthropic's `messages`, OpenAI's `responses`. */
export interface ClientFormat {
  readonly endpoint: EndpointId;
  /** The endpoint of the hub that it is translated to. Default: chat completions. */
  readonly hub?: EndpointId;
  /**
   * Parameters, and tools as `tools.<type>`, that clients of this format send to every provider and do not depend on. They are dropped
   * where a provider lacks them, unless the rule is `refuse`.
   */
  readonly hints?: ReadonlySet<string>;
  /** The client's request in the hub's format. Throws `AppError('invalid_request' | 'parameter_unsupported')`. */
  request(body: Json, context: Context): Json;
  /** The hub's response in the client's format. `asked` is the client's own request, parts of which some formats repeat. */
  answer(hub: Json, hubRequest: Json, context: Context): Json;
  /** The whole body of an error response, in the client's format. */
  error(error: HubError, status: number): Json;
  open(hubRequest: Json, context: Context): ChunkTranslator;
}

/** The state of one stream on its way from the hub to the client. */
export interface ChunkTranslator {
  chunk(hub: Json): readonly StreamEvent[];
  /**
   * If two chunks, and the events they became, differ only in a text, then further such chunks become such events, and no state depends on
   * them. Absent if each event differs, for example by a number.
   */
  readonly isUniform?: true;
  /** The response is complete. */
  end(): readonly StreamEvent[];
  /** The response broke off; reports that in the client's format. */
  fail(error: HubError): readonly StreamEvent[];
}
