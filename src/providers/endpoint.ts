import type { Usage } from '../common/contracts/usage.js';

export type Json = Readonly<Record<string, unknown>>;

/** Endpoints that the gateway supports by name. Everything else is pass-through. */
export const ENDPOINT_IDS = [
  'chat-completions',
  'completions',
  'fim-completions',
  'agent-completions',
  'responses',
  'compaction',
  'messages',
  'count-tokens',
  'generate-content',
  'interactions',
  'embed-content',
  'chat-v2',
  'embed-v2',
  'rerank-v2',
  'embeddings',
  'rerank',
  'moderations',
  'ocr',
  'image-generations',
  'image-edits',
  'image-variations',
  'speech',
  'transcriptions',
  'translations',
  'files',
  'batches',
  'fine-tuning',
  'vector-stores',
  'realtime',
  'models',
] as const;

export type EndpointId = (typeof ENDPOINT_IDS)[number];

export type Method = 'GET' | 'POST' | 'DELETE';

/** One request of an endpoint. In a path, `{name}` stands for one segment: `/files/{id}/content`. */
export interface EndpointOperation {
  readonly method: Method;
  /** Below `/v1`, as clients send it. */
  readonly path: string;
  /** For the documentation, in the imperative. Every operation of an endpoint has one. */
  readonly summary?: string;
}

/** Groups of endpoints in the documentation, in its order. */
export type EndpointGroup =
  | 'text'
  | 'embeddings'
  | 'moderation'
  | 'images'
  | 'audio'
  | 'realtime'
  | 'files'
  | 'vector-stores'
  | 'models';

/**
 * A first-class endpoint, and how the gateway reads it. A JSON body is parsed once; the client's own bytes go upstream unless the model
 * names its target or the provider uses another dialect.
 */
export interface Endpoint {
  readonly id: EndpointId;
  /** Display name: "chat completions". */
  readonly title: string;
  readonly group: EndpointGroup;
  /** How the gateway handles its requests. */
  readonly description: string;
  readonly operations: readonly EndpointOperation[];
  /** A body that the sandbox answers as it stands. Absent: the document has none. */
  readonly example?: Json;
  /**
   * `json`: POST bodies are read and parsed. `form`: the short fields of a multipart form are read while it streams through. `opaque`:
   * bodies stream through unread.
   */
  readonly body: 'json' | 'form' | 'opaque';
  /**
   * Whether a provider keeps the response to a request, which the client then finds by its id. `none`: sending it twice costs money and has
   * no other effect. `on-request`: the same unless the body has `"store": true`; `unless-refused`: only if it has `"store": false`. Absent:
   * it may keep something.
   */
  readonly storage?: 'none' | 'on-request' | 'unless-refused';
  /** The member of a body that names an agent, which uses models of its own, whatever `model` says. Absent: only `model` chooses. */
  readonly agentMember?: string;
  /** Reads tokens from responses; null if responses contain none. */
  readonly usage: UsageReader | null;
  /** Whether a stream reports usage by itself, or only when the client requests it with `stream_options.include_usage`. */
  readonly usageInStreams: 'always' | 'asked';
  /**
   * What a client of this format can do at a provider that lacks the endpoint: the request is refused with it, because no such provider
   * reads the format. Absent: the request is forwarded.
   */
  readonly elsewhere?: string;
  /** Page that the paths and fields were checked against. */
  readonly source: string;
}

/** Reads the tokens of one dialect's responses. Pure; never throws on a hostile response. */
export interface UsageReader {
  /**
   * Usage in a response, or in one event of a stream; null when there is none. `known` is the usage of earlier events: some dialects report
   * input and output separately.
   */
  fromAnswer(answer: Json, known?: Usage | null): Usage | null;
  /** Text that a response, or one event of a stream, adds to the output. For counting when usage is missing. */
  outputText(answer: Json): string;
  /**
   * The same for an event without usage, by its JSON, without parsing the rest of it; null if it must be parsed. Absent: it always must.
   */
  passingText?(json: string): string | null;
  /** Whether the usage of an event, `usage` including earlier ones, is that of the beginning, before any output. Absent: never. */
  marksBeginning?(event: Json, usage: Usage): boolean;
  /** Text of the request that counts as input. */
  inputText(request: Json): string;
  /** The model in a response or event; null when there is none. */
  modelOf(answer: Json): string | null;
  /** The service tier in a response or event; null when there is none. Absent: responses never have one. */
  tierOf?(answer: Json): string | null;
  /** The reader for the response to one request, if the response alone does not determine the charge. */
  askedBy?(request: Json): UsageReader;
}
