import type { EndpointOperation } from '../../../providers/endpoint.js';
import type { EndpointTexts } from '../texts/text-tree.js';

/**
 * How guardrails treat the body of a request:
 *
 * - `read`: its texts are judged.
 * - `file`: an upload, or a job that names one. It passes unread.
 * - `unread`: refused where a guardrail that the caller cannot disable acts on texts.
 * - `outside`: it opens a session beside the gateway. Refused where any guardrail may deny.
 */
export type RequestReading = 'read' | 'file' | 'unread' | 'outside';

/**
 * How guardrails treat a response:
 *
 * - `read`: every check judges its texts.
 * - `searched`: it may contain model text at no certain place. Checks for forbidden content judge every string of it.
 * - `media`: images, audio or video. It passes unread.
 * - `metadata`: it describes an object and has no model text. It passes unread.
 * - `unread`: it may have model text, and its shape is unknown. The request is refused.
 */
export type AnswerReading = 'read' | 'searched' | 'media' | 'metadata' | 'unread';

/** How guardrails treat a request and its response. */
export interface TextCoverage {
  readonly request: RequestReading;
  readonly answer: AnswerReading;
}

/** TextCoverage of operations that differ from their endpoint's row, or that have none. */
export interface OperationCoverage extends TextCoverage {
  readonly title: string;
  readonly operations: readonly EndpointOperation[];
  /** The places of its texts; absent where the response is not read. */
  readonly texts?: EndpointTexts;
  /** The response may be JSON Lines, each with a response of its own: no line continues another. */
  readonly isListing?: true;
  /** Parameters of the query that ask for a stream from a later event on. */
  readonly resumedBy?: readonly string[];
  /** Page that the paths and fields were checked against. */
  readonly source: string;
}

/** The coverage of one request, with the places of its response's texts. */
export interface RequestCoverage extends TextCoverage {
  readonly texts?: EndpointTexts | undefined;
  readonly isListing?: true;
  readonly resumedBy?: readonly string[];
}
