/**
 * Locks across all processes of all instances on one database, and their numbers. A release being replaced uses the same ones, so a
 * number's meaning never changes. https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
export const ADVISORY_LOCKS = {
  migrations: 7_270_001,
  /** Concurrent runs would create the same partition. */
  partitions: 7_270_002,
  /** Taken shared and exclusively: `rollups/seals.ts`. */
  rollups: 7_270_003,
  /** Concurrent runs would each create a key, and only one would be kept. */
  masterKey: 7_270_004,
  retention: 7_270_006,
  firstKeys: 7_270_007,
  /** Concurrent writers would each remove rows that the other one counts on. */
  refusedCredentials: 7_270_032,
  /** Concurrent runs could assign later numbers first. */
  batchNumbers: 7_270_031,
} as const;
