import type { Dialect } from '../dialect.js';

/** OpenAI's own wire format, which is what clients speak to the gateway: nothing is translated. */
export const openai: Dialect = { id: 'openai' };
