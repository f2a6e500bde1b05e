import type { PlainQuery } from './plain-queries/plain-find.js';

/** The end of a caller's transaction, in the hands of who has the last word in it. */
export interface Ending {
  /** Runs a statement within the transaction, and answers its rows. */
  query<Rows>(text: string, values?: readonly unknown[]): Promise<Rows>;

  /**
   * Runs statements and commits, in one round trip. When one of them fails nothing is committed, and the transaction is as a failed
   * statement leaves it: it goes on from a savepoint, or ends.
   */
  commitAfter(statements: readonly PlainQuery[]): Promise<void>;
}

/** Commits, or rejects: then the transaction is rolled back. */
export type LastWord = (ending: Ending) => Promise<void>;
