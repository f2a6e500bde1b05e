import type { Dialect } from '../dialect.js';

/**
 * An API of the provider's own that nothing here reads: paths that are no endpoint of the gateway pass through, with the
 * account's credentials.
 */
export const own: Dialect = { id: 'own' };
