import type { AppError } from '../../common/errors/app-error.js';
import type { Attempt } from './attempt.js';

/** The error of the last try, with the try. */
export class FailedAttempt extends Error {
  constructor(
    readonly attempt: Attempt,
    readonly error: AppError,
    /** The status that the provider gave its failure within an answer whose own status is that of a success. */
    readonly reportedStatus: number | null = null,
  ) {
    super(error.message, { cause: error });
  }
}
