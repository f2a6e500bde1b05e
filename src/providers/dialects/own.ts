import type { Dialect } from '../dialect.js';

/** A provider's own API, which is not parsed: paths that are not endpoints of the gateway pass through, with the account's credentials. */
export const own: Dialect = { id: 'own' };
