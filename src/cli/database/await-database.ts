import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../../common/settings/secret.js';
import { DatabaseUnavailable } from '../database-unavailable.js';
import { LauncherError } from '../launcher-error.js';

/** How long a database that is being started in parallel may take. */
export const DATABASE_TIMEOUT_MS = 30_000;
const RETRY_MS = 250;

/** Errors of a database, or of the network, while it is still starting. */
const NOT_YET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P03',
  '53300',
]);

export interface WaitOptions {
  /** How long to try, milliseconds; an attempt under way then is abandoned. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
}

/**
 * Tries until the database responds. Permanent errors (a wrong password) are reported at once. Rejects with `DatabaseUnavailable` when the
 * time is up.
 */
export async function awaitDatabase<T>(
  url: Secret,
  attempt: () => Promise<T>,
  { signal, notice, timeoutMs = DATABASE_TIMEOUT_MS }: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    try {
      return await within(deadline - performance.now(), attempt());
    } catch (error) {
      if (error instanceof LauncherError) throw error;
      if (!mayCome(error as Error)) throw new LauncherError(...unusable(url, error));
      if (performance.now() + RETRY_MS > deadline) throw new DatabaseUnavailable(...unusable(url, error));
      if (tries === 0) notice(`Waiting for the database at ${place(url)} (${reasonOf(error)}).`);
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

function mayCome(error: Error): boolean {
  return (
    NOT_YET.has((error as NodeJS.ErrnoException).code ?? '') ||
    /timeout|Connection terminated/i.test(error.message)
  );
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const enough = new AbortController();
  const late = sleep(ms, undefined, { signal: enough.signal }).then(() => {
    throw new Error('timeout: it did not respond');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    enough.abort();
    work.catch(() => undefined);
  }
}

/** The parts of a LauncherError. */
function unusable(url: Secret, cause: unknown): ConstructorParameters<typeof LauncherError> {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = message || (code ?? 'no reason was given');
  return [`The database at ${place(url)} cannot be used: ${reason}. Check DATABASE_URL.`, { cause }];
}

/** Host, port and database: the parts of the URL that are not secret. */
export function place(url: Secret): string {
  const { host, pathname } = new URL(url.reveal());
  return `${host}${pathname}`;
}
