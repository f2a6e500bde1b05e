import { HttpException } from '@nestjs/common';
import { isDatabaseAway, isDatabaseBusy } from '../database/database-errors.js';
import { AppError } from './app-error.js';

/** Largest body of an administrative request, in bytes. */
export const ADMINISTRATION_BODY_LIMIT = 1024 * 1024;

/** Makes one of our refusals of whatever the administration threw: our own, the framework's, or the database's. */
export function toAdministrationError(thrown: unknown, contentType: string): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromFramework(thrown, contentType);
  if (isDatabaseAway(thrown)) return new AppError('database_unavailable', {}, { cause: thrown });
  if (isDatabaseBusy(thrown)) return new AppError('overloaded', {}, { cause: thrown });
  return AppError.from(thrown);
}

/** The framework refuses before any handler, and says why only by its status; its texts name libraries. */
function fromFramework(thrown: HttpException, contentType: string): AppError {
  switch (thrown.getStatus()) {
    case 404:
      return new AppError('not_found', { resource: 'path' });
    case 413:
      return new AppError('body_too_large', { limitBytes: ADMINISTRATION_BODY_LIMIT });
    case 415:
      return new AppError('unsupported_media_type', { contentType });
    case 400:
      return new AppError('invalid_request', { detail: 'The request cannot be read.' }, { cause: thrown });
    default:
      return AppError.from(thrown);
  }
}
