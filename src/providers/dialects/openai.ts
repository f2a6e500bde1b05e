import type { Dialect } from '../dialect.js';

/** OpenAI's own wire format, which is also the clients': nothing is translated. */
export const openai: Dialect = { id: 'openai' };
