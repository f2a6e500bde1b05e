import type { AttemptRecord } from '../record.js';

/** What came after the first try of a request. */
export interface FurtherTries {
  /** Tries that asked the same target as the try before. */
  readonly retry_count: number;
  /** Tries that asked another one. */
  readonly fallback_count: number;
}

/** Reads from the tries what they were: nobody has to tell it beside them. */
export function furtherTries(all: readonly AttemptRecord[]): FurtherTries {
  const attempts = all.filter(({ isAside }) => !isAside);
  let fallback_count = 0;
  for (let index = 1; index < attempts.length; index++)
    if (!isSameTarget(attempts[index - 1], attempts[index])) fallback_count += 1;
  return { retry_count: Math.max(0, attempts.length - 1) - fallback_count, fallback_count };
}

/** What tells targets apart. Two entries of a config may lead to the same place and are two targets all the same. */
const TARGET = ['option_path', 'provider', 'virtual_key_id', 'origin'] as const;

const isSameTarget = (one: AttemptRecord | undefined, other: AttemptRecord | undefined): boolean =>
  TARGET.every((field) => one?.[field] === other?.[field]);
