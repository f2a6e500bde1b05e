import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { parsedObject } from './metering.js';
import { mayTellFailure, tellsFailure } from './tells-failure.js';

/** The report that a whole answer with the status of a success is, of a failure; null for every other. Of what cannot be read nothing is known. */
export function reportedFailure(answer: Buffer): Json | null {
  const json = mayTellFailure(answer) ? parsedObject(answer.toString('utf8')) : null;
  return json && tellsFailure(json) ? json : null;
}

/** What becomes of a try whose answer is such a report. */
export const saidAnError = (what: 'answer' | 'stream'): AppError =>
  new AppError('upstream_error', {
    detail: what === 'answer' ? 'its answer is an error' : 'its stream began with an error',
  });
