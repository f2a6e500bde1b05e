import type { Usage } from '../common/contracts/usage.js';

export type Json = Readonly<Record<string, unknown>>;

/** Families of requests that the gateway knows by name. Everything else is a pass-through. */
export const ENDPOINT_IDS = [
  'chat-completions',
  'completions',
  'fim-completions',
  'agent-completions',
  'responses',
  'messages',
  'count-tokens',
  'generate-content',
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
export interface Operation {
  readonly method: Method;
  /** Below `/v1`, as clients send it. */
  readonly path: string;
}

/**
 * A first-class endpoint: what the gateway reads of it. A JSON body is parsed once; the bytes that go upstream are
 * the client's own unless the model names its target or the provider speaks another dialect.
 */
export interface Endpoint {
  readonly id: EndpointId;
  /** Words for people: "chat completions". */
  readonly title: string;
  readonly operations: readonly Operation[];
  /**
   * `json`: POST bodies are read and parsed. `form`: the short fields of a multipart form are read while it streams through.
   * `opaque`: bodies stream through unread.
   */
  readonly body: 'json' | 'form' | 'opaque';
  /** How tokens are read from answers; null where answers carry none. */
  readonly usage: UsageReader | null;
  /** Whether a stream tells usage by itself, or only when the client asks with `stream_options.include_usage`. */
  readonly usageInStreams: 'always' | 'asked';
  /** Page that the paths and fields were checked against. */
  readonly source: string;
}

/** How the tokens of one dialect's answer are read. Pure; never throws on a hostile answer. */
export interface UsageReader {
  /**
   * Usage that an answer, or one event of a stream, carries; null when it has none. `known` is what earlier events
   * told: some dialects tell input and output apart.
   */
  fromAnswer(answer: Json, known?: Usage | null): Usage | null;
  /** Text that an answer, or one event of a stream, adds to the output. For counting where usage is missing. */
  outputText(answer: Json): string;
  /**
   * The same of an event that tells no usage, by its JSON, without reading the rest of it; null where it must be read. Absent: it always must.
   */
  passingText?(json: string): string | null;
  /** Whether the usage that an event tells, `usage` with all before it, is that of the beginning, before there was any output. Absent: never. */
  tellsBeginning?(event: Json, usage: Usage): boolean;
  /** Text of the request that counts as input. */
  inputText(request: Json): string;
  /** The model that an answer or event names; null when it names none. */
  modelOf(answer: Json): string | null;
  /** The tier of service that an answer or event names; null when it names none. Absent: answers never do. */
  tierOf?(answer: Json): string | null;
  /** The reader of the answer to one request, where the answer alone does not tell what is charged. */
  askedBy?(request: Json): UsageReader;
}
