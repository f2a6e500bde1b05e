import type { PlainQuery } from './plain-queries/plain-find.js';

/** The transaction of a unit of work whose work is done, as its commit hook sees it. */
export interface FinishedWork {
  /** Runs a statement within the transaction and returns its rows. */
  query<Rows>(text: string, values?: readonly unknown[]): Promise<Rows>;

  /** Runs statements and commits, in one round trip where the transaction is a caller's. Commits nothing when one fails. */
  commitAfter(statements: readonly PlainQuery[]): Promise<void>;
}

/**
 * The last step of a unit of work. It ends with `commitAfter`, or rejects: then the transaction is rolled back. It is the only
 * place for locks that every change of an organization needs: nothing but the commit comes after them.
 */
export type CommitHook = (work: FinishedWork) => Promise<void>;
