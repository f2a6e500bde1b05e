import type { AttemptRecord } from '../record.js';

/** Attempts of a request after the first. */
export interface FurtherTries {
  /** Attempts at the same target as the previous attempt. */
  readonly retry_count: number;
  /** Attempts at another target. */
  readonly fallback_count: number;
}

/** Derives retries and fallbacks from the attempts. */
export function furtherTries(all: readonly AttemptRecord[]): FurtherTries {
  const attempts = all.filter(({ isAside }) => !isAside);
  let fallback_count = 0;
  for (let index = 1; index < attempts.length; index++)
    if (!isSameTarget(attempts[index - 1], attempts[index])) fallback_count += 1;
  return { retry_count: Math.max(0, attempts.length - 1) - fallback_count, fallback_count };
}

/** The fields that identify a target. Two config entries may lead to the same upstream but are still two targets. */
const TARGET = ['option_path', 'provider', 'virtual_key_id', 'origin'] as const;

const isSameTarget = (one: AttemptRecord | undefined, other: AttemptRecord | undefined): boolean =>
  TARGET.every((field) => one?.[field] === other?.[field]);
