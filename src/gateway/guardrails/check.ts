import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../auth/principal.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import type { Placeholders } from './placeholders.js';
import type { TextRun } from './texts/body-texts.js';

/** Facts of the request that checks can use besides the texts. */
export interface Facts {
  readonly id: string;
  readonly traceId: string;
  readonly endpoint: EndpointId | null;
  /** As the client requested it, without a `@slug/`. */
  readonly model: string | null;
  /** The client requested a stream. */
  readonly isStreamed: boolean;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Principal;
  readonly placeholders: Placeholders;
  /** The request's body; null if it was not read. */
  readonly request: Json | null;
}

/** The subject of a check: texts of a request or of a response, in order. */
export interface CheckSubject {
  readonly side: 'input' | 'output';
  /** The messages as they were written. For a check that looks everywhere: every text, with JSON inside it unescaped. */
  readonly texts: readonly string[];
  /** Neighbouring text parts of one message, which are searched as one text too. Positions are those of `texts`. */
  readonly runs: readonly TextRun[];
  /** The whole body; null for a streamed response. */
  readonly json: Json | null;
  readonly facts: Facts;
}

/** The result of a check. */
export interface Finding {
  readonly verdict: boolean;
  /** For display and the log. Never the text that was found. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** The same texts, changed; as many as before. */
  readonly texts?: readonly string[];
  /** The whole body, changed. */
  readonly json?: Json;
}

/** One check, built once per config. Throws, or rejects, when it could not run. */
export interface Check {
  /** Returns without a promise when it need not wait. */
  run(subject: CheckSubject): Finding | Promise<Finding>;
  /** Filters a part of a stream while it passes; a new filter for each part. Absent: the check can only judge the whole. */
  readonly open?: (facts: Facts) => TextFilter;
  /** The filter may also search parts of a stream that are joined. */
  readonly searchesJoined?: boolean;
  /** A filter that fails where a finding begins in the text `before` a part of a stream and ends in that part. */
  readonly openAcross?: (before: string) => TextFilter;
  /**
   * The check looks for forbidden content, so it receives every text. A check that counts or requires something receives only messages: a
   * forbidden word must not appear in the description of a tool, but a required one is of no use there.
   */
  readonly looksEverywhere?: boolean;
  /** It works on the body as a whole and runs where texts cannot be read, too. */
  readonly ignoresTexts?: true;
  /** It may change texts, and its filter does. */
  readonly changes?: boolean;
}

/** The passing texts of one part: returns what can be released, with changes. */
export interface TextFilter {
  feed(text: string): string;
  /** Returns the rest. */
  end(): string;
  /** The whole fails, whatever follows. Text released in the same step must not be sent. */
  readonly hasFailed: boolean;
}
