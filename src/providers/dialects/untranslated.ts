import type { Dialect } from '../dialect.js';

/** OpenAI's own wire format, which is also the clients': nothing is translated. */
export const openai: Dialect = { id: 'openai' };

/** A provider's own API, which is not parsed: paths that are not endpoints of the gateway pass through, with the account's credentials. */
export const own: Dialect = { id: 'own' };
