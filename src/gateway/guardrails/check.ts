import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../auth/principal.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import type { Placeholders } from './finding/placeholders.js';

/** What checks may know of the request besides the texts. */
export interface Facts {
  readonly id: string;
  readonly traceId: string;
  readonly endpoint: EndpointId | null;
  /** As the client asked for it, without a `@slug/`. */
  readonly model: string | null;
  /** The client asked for a stream. */
  readonly isStreamed: boolean;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Principal;
  readonly placeholders: Placeholders;
  /** The request's body. Null where it was not read. */
  readonly request: Json | null;
}

/** What a check looks at: texts of a request or of an answer, in order. */
export interface CheckSubject {
  readonly side: 'input' | 'output';
  /** What is said, as it was written; for a check that looks everywhere every text, with JSON in it unescaped. */
  readonly texts: readonly string[];
  /** The whole body; null for the answer of a stream. */
  readonly json: Json | null;
  readonly facts: Facts;
}

/** What a check found. */
export interface Finding {
  readonly verdict: boolean;
  /** For people and the log. Never the text that was found. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** The same texts, changed; as many as there were. */
  readonly texts?: readonly string[];
  /** The whole body, changed. */
  readonly json?: Json;
}

/** One check, made once per config. Throws, or rejects, when it could not be made. */
export interface Check {
  /** Returns without a promise where nothing has to be waited for. */
  run(subject: CheckSubject): Finding | Promise<Finding>;
  /**
   * How it looks at a part of a stream while that passes; a new filter for each part. Absent: it can only judge the whole.
   */
  readonly open?: (facts: Facts) => TextFilter;
  /**
   * It looks for what must not occur, so it gets every text. A check that counts, or requires something, gets what is said: a forbidden
   * word must not stand in the description of a tool, and a required one there is of no use.
   */
  readonly looksEverywhere?: boolean;
  /** It may change texts, and its filter does. */
  readonly changes?: boolean;
}

/** The texts of one part on their way: what can be let go comes out, changed. */
export interface TextFilter {
  feed(text: string): string;
  /** The rest. */
  end(): string;
  /** It has seen what makes the whole fail for good, whatever comes after. What came out with it must not leave. */
  readonly hasFailed: boolean;
}
