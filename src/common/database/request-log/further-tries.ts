import type { AttemptRecord } from '../../contracts/request-log.js';

/** What came after the first try of a request. */
export interface FurtherTries {
  /** Tries that asked the same target as the try before. */
  readonly retry_count: number;
  /** Tries that asked another one. */
  readonly fallback_count: number;
}

/** Reads from the tries what they were: nobody has to tell it beside them. */
export function furtherTries(attempts: readonly AttemptRecord[]): FurtherTries {
  let fallback_count = 0;
  for (let index = 1; index < attempts.length; index++)
    if (!isSameTarget(attempts[index - 1], attempts[index])) fallback_count += 1;
  return { retry_count: Math.max(0, attempts.length - 1) - fallback_count, fallback_count };
}

function isSameTarget(one: AttemptRecord | undefined, other: AttemptRecord | undefined): boolean {
  return (
    one?.option_path === other?.option_path &&
    one?.provider === other?.provider &&
    one?.virtual_key_id === other?.virtual_key_id &&
    one?.origin === other?.origin
  );
}
