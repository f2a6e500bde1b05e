import type { Usage } from '../common/contracts/request-log.js';

export type Json = Readonly<Record<string, unknown>>;

/** Families of requests that the gateway knows by name. Everything else is a pass-through. */
export type EndpointId = 'chat-completions';

/**
 * A first-class endpoint: what the gateway reads of it. The body is parsed once; the bytes
 * that go upstream are the client's own unless the model names its target.
 */
export interface Endpoint {
  readonly id: EndpointId;
  readonly method: 'POST';
  /** Path below `/v1`, as clients send it. */
  readonly path: string;
  /** Words for people: "chat completions". */
  readonly title: string;
  readonly body: 'json';
  readonly usage: UsageReader;
}

/** How the tokens of one dialect's answer are read. Pure; never throws on a hostile answer. */
export interface UsageReader {
  /** Usage that an answer, or one event of a stream, carries; null when it has none. */
  fromAnswer(answer: Json): Usage | null;
  /** Text that an answer, or one event of a stream, adds to the output. For counting where usage is missing. */
  outputText(answer: Json): string;
  /** Text of the request that counts as input. */
  inputText(request: Json): string;
}
