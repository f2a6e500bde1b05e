/**
 * What takes turns across all processes of all instances on one database, and under which number. A release that is being replaced
 * takes the same ones, so a number keeps its meaning indefinitely.
 * https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
export const ADVISORY_LOCKS = {
  migrations: 7_270_001,
  /** Two at once would both create the same partition. */
  partitions: 7_270_002,
  /** Taken shared and alone: `rollups/seals.ts`. */
  rollups: 7_270_003,
  /** Two at once would each make a key, and only one of the two would be kept. */
  masterKey: 7_270_004,
  retention: 7_270_006,
  firstKeys: 7_270_007,
  /** Two that number batches at once would give the later numbers first. */
  batchNumbers: 7_270_031,
} as const;
