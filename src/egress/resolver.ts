import { lookup } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';

/** All addresses of a name, in the order to try them. Rejects with the `code` of `node:dns`. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The machine's own resolver, with its hosts file and search domains. */
export const resolveBySystem: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

const FRESH_MS = 5_000;
const MAX_NAMES = 1_000;

/**
 * Resolves once for all sockets that open to a name within a few seconds. `getaddrinfo` blocks one of four threads, so that a burst of
 * connections without this would queue. Failures are not cached.
 */
export function cachingResolver(resolve: Resolve, now: () => number = Date.now): Resolve {
  const known = new LRUCache<string, Promise<readonly string[]>>({
    max: MAX_NAMES,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now },
  });

  return (name) => {
    const fresh = known.get(name);
    if (fresh) return fresh;
    const addresses = resolve(name);
    addresses.catch(() => {
      if (known.peek(name) === addresses) known.delete(name);
    });
    known.set(name, addresses);
    return addresses;
  };
}
