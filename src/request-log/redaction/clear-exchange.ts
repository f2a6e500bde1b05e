import type { AttemptRecord, RequestLogRecord } from '../record.js';
import type { BodyFacts, ClosedExchange } from '../spool/frame-values.js';
import type { Redactor } from './redactor.js';

/** A closed frame, parsed. */
export interface ParsedExchange {
  readonly closed: ClosedExchange;
  readonly requestBody: Buffer;
  readonly responseBody: Buffer;
}

const NOTHING = Buffer.alloc(0);

/**
 * An exchange without the parts that must not be logged. Its tokens must have been counted: the text to count is removed, too. Metadata is
 * kept, because callers find their requests by it.
 */
export function clearExchange(
  { closed, requestBody, responseBody }: ParsedExchange,
  redactor: Redactor,
): ParsedExchange {
  const [request, response] = [
    bodyOf(closed.request, requestBody),
    bodyOf(closed.response, responseBody),
  ].map((body) => body && redactor.body(body));
  const clear: ClosedExchange = {
    record: clearRecord(closed.record, redactor),
    request: request?.facts ?? null,
    response: response?.facts ?? null,
  };
  return {
    closed: clear,
    requestBody: request?.bytes ?? NOTHING,
    responseBody: response?.bytes ?? NOTHING,
  };
}

const bodyOf = (facts: BodyFacts | null, bytes: Buffer) => facts && { facts, bytes };

function clearRecord(record: RequestLogRecord, redactor: Redactor): RequestLogRecord {
  return {
    ...record,
    path: redactor.text(record.path),
    attempts: record.attempts.map((attempt) => (attempt.countable ? withoutText(attempt) : attempt)),
    countable: null,
    hook_results: record.hook_results && redactor.json(record.hook_results),
    request_headers: redactor.headers(record.request_headers),
    response_headers: redactor.headers(record.response_headers),
  };
}

function withoutText(attempt: AttemptRecord): AttemptRecord {
  const rest: { countable?: unknown } = { ...attempt };
  delete rest.countable;
  return rest as AttemptRecord;
}
