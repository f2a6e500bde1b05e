import { invalidField } from '../../common/errors/field-errors.js';

/** The compatible SDK repeats an id of the path in some bodies. A different id is an error. */
export function checkRepeatedId(field: string, repeated: string | undefined, inPath: string): void {
  if (repeated !== undefined && repeated.toLowerCase() !== inPath.toLowerCase())
    throw invalidField(field, 'it differs from the id in the path. Send the same id, or leave the field out');
}
