import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable, isDatabaseBusy, isReferenceBroken } from '../database/database-errors.js';
import { ADMINISTRATION_BODY_LIMIT } from '../common/http/body-limits.js';
import { AppError } from '../common/errors/app-error.js';

/** Facts about the request for its refusal. */
export interface RefusedRequest {
  readonly contentType: string;
  /** Largest allowed body in bytes. */
  readonly bodyLimit?: number | undefined;
}

/** Converts anything that the administration threw to an `AppError`: our own errors, the framework's, or the database's. */
export function toAdministrationError(thrown: unknown, request: RefusedRequest): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromFramework(thrown, request);
  if (isDatabaseUnavailable(thrown)) return new AppError('database_unavailable', {}, { cause: thrown });
  if (isReferenceBroken(thrown)) return new AppError('conflict', { detail: MEANWHILE }, { cause: thrown });
  if (isDatabaseBusy(thrown)) return new AppError('overloaded', {}, { cause: thrown });
  return AppError.from(thrown);
}

const MEANWHILE =
  'Another resource that this one refers to was removed, or another resource still refers to this one. Nothing was changed.';

/** The framework refuses before any handler, and indicates the reason only by status; its texts name libraries. */
function fromFramework(thrown: HttpException, { contentType, bodyLimit }: RefusedRequest): AppError {
  switch (thrown.getStatus()) {
    case 404:
      return new AppError('not_found', { resource: 'path' });
    case 413:
      return new AppError('body_too_large', { limitBytes: bodyLimit ?? ADMINISTRATION_BODY_LIMIT });
    case 415:
      return new AppError('unsupported_media_type', { contentType });
    case 400:
      return new AppError('invalid_request', { detail: 'The request cannot be read.' }, { cause: thrown });
    default:
      return AppError.from(thrown);
  }
}
