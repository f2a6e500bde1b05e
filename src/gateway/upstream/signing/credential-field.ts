import { unusable } from './token-service.js';

/** A field of a virtual key that fits its pattern; `credential_unusable` for everything else. */
export function requiredField(value: string | undefined, pattern: RegExp): string {
  if (value === undefined || !pattern.test(value)) throw unusable();
  return value;
}

/** The same of a field that may be missing or empty. */
export function optionalField(value: string | undefined, pattern: RegExp): string | null {
  return value ? requiredField(value, pattern) : null;
}
