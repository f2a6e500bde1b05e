import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { JsonObjects } from '../framing/index.js';
import { parsedObject, type Reading } from './reading.js';
import { mayReportFailure, reportsFailure } from './reading.js';

/**
 * The failure report in a whole response with a success status, alone or first in an array; null for every other response, and for
 * unreadable ones.
 */
export function reportedFailure(answer: Buffer): Json | null {
  if (!mayReportFailure(answer)) return null;
  const json = parsedObject(answer.toString('utf8')) ?? firstOf(answer);
  return json && reportsFailure(json) ? json : null;
}

function firstOf(array: Buffer): Json | null {
  let first: Json | null | undefined;
  new JsonObjects((json) => {
    if (first === undefined) first = parsedObject(json);
  }).feed(array);
  return first ?? null;
}

/** The status in such a report, if any: https://openrouter.ai/docs/api-reference/errors, https://cloud.google.com/apis/design/errors */
export function reportedStatus({ error }: Json): number | null {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599 ? code : null;
}

/** The error of a try whose response is such a report. */
export const errorOfProvider = (what: 'answer' | 'stream'): AppError =>
  new AppError('upstream_error', {
    detail: what === 'answer' ? 'its response is an error' : 'its stream began with an error',
  });

/** A response that cannot be passed on, although its head was a success: thrown by the steps that examine it. */
export class ResponseFailure extends Error {
  constructor(
    readonly error: AppError,
    /** What the response reported: it is charged. */
    readonly reading: Reading,
    /** The failure status that the provider reported inside the response. */
    readonly reportedStatus: number | null = null,
  ) {
    super(error.message, { cause: error });
  }
}
