import { lookup } from 'node:dns/promises';

/** All addresses of a name, in the order to try them. Rejects with the `code` of `node:dns`. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The machine's own resolver: hosts file, search domains and all, as the operator set it up. */
export const resolveBySystem: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

interface Entry {
  readonly addresses: Promise<readonly string[]>;
  readonly until: number;
}

const FRESH_MS = 5_000;
const MAX_NAMES = 1_000;

/**
 * Resolves once for all sockets that open to a name within a few seconds. `getaddrinfo` holds one of four threads while it
 * waits, so that a burst of connections without this would queue behind itself. Failures are not kept.
 */
export function cachingResolver(resolve: Resolve, now: () => number = Date.now): Resolve {
  const entries = new Map<string, Entry>();

  const ask = (name: string): Promise<readonly string[]> => {
    const entry = { addresses: resolve(name), until: now() + FRESH_MS };
    entry.addresses.catch(() => {
      if (entries.get(name) === entry) entries.delete(name);
    });
    entries.delete(name);
    entries.set(name, entry);
    const oldest = entries.keys().next();
    if (entries.size > MAX_NAMES && !oldest.done) entries.delete(oldest.value);
    return entry.addresses;
  };

  return (name) => {
    const entry = entries.get(name);
    return entry && entry.until > now() ? entry.addresses : ask(name);
  };
}
