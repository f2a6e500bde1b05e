import { AppError } from '../common/errors/app-error.js';

/** The compatible SDK repeats an id of the path in some bodies. A different id is an error. */
export function checkRepeated(field: string, repeated: string | undefined, inPath: string): void {
  if (repeated !== undefined && repeated.toLowerCase() !== inPath.toLowerCase())
    throw new AppError('invalid_request', {
      detail: `The field "${field}" is invalid: it differs from the id in the path. Send the same id, or leave the field out.`,
    });
}
