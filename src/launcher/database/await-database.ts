import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../../common/crypto/secret.js';
import { LauncherError } from '../launcher-error.js';

/** How long a database that is being started beside us may take. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 250;

/** What a database says, or what the network says in its place, while it is not there yet. */
const NOT_YET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  '57P03',
  '53300',
]);

/** Tries until the database answers. What waiting does not mend (a wrong password) is said at once. */
export async function awaitDatabase<T>(
  url: Secret,
  attempt: () => Promise<T>,
  { signal, notice }: { readonly signal: AbortSignal; readonly notice: (text: string) => void },
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof LauncherError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const mayCome = NOT_YET.has(code ?? '') || /timeout/i.test(message);
      if (!mayCome || performance.now() > deadline) throw unusable(url, error);
      if (tries === 0) notice(`Waiting for the database at ${place(url)} (${code ?? message}).`);
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

function unusable(url: Secret, cause: unknown): LauncherError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = message || (code ?? 'no reason was given');
  return new LauncherError(`The database at ${place(url)} cannot be used: ${reason}. Check DATABASE_URL.`, {
    cause,
  });
}

/** Host, port and database: everything of the address that is no secret. */
export function place(url: Secret): string {
  const { host, pathname } = new URL(url.reveal());
  return `${host}${pathname}`;
}
