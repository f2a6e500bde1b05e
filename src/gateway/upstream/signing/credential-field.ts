import { unusable } from '../../../external-credentials/tokens/token-service.js';

/** A field of a virtual key that matches its pattern; otherwise throws `credential_unusable`. */
export function requiredField(value: string | undefined, pattern: RegExp): string {
  if (value === undefined || !pattern.test(value)) throw unusable();
  return value;
}

/** The same for a field that may be missing or empty. */
export function optionalField(value: string | undefined, pattern: RegExp): string | null {
  return value ? requiredField(value, pattern) : null;
}
