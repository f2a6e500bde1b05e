import { createRequire } from 'node:module';
import type { Pool } from 'undici';

/**
 * undici's pool alone. What the package as a whole loads beside it (fetch, WebSocket, caches, mocks) takes 3 MB of heap in every
 * gateway process. Its files can be named, since it has no `exports`: https://github.com/nodejs/undici/blob/v7.30.2/package.json
 */
export const UndiciPool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof Pool;
