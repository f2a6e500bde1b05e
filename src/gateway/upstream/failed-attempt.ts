import type { AppError } from '../../common/errors/app-error.js';
import type { Attempt } from './attempt.js';

/** The error of the last try, with the try. */
export class FailedAttempt extends Error {
  constructor(
    readonly attempt: Attempt,
    readonly error: AppError,
    /** The failure status that the provider reported inside a response with a success status. */
    readonly reportedStatus: number | null = null,
  ) {
    super(error.message, { cause: error });
  }
}
