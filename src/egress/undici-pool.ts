import { createRequire } from 'node:module';
import type { Pool } from 'undici';

/**
 * Only undici's pool. The rest of the package (fetch, WebSocket, caches, mocks) takes 3 MB of heap in every gateway process. Its files can
 * be imported, because it has no `exports`, and its main file adds the dispatchers' methods as is done here:
 * https://github.com/nodejs/undici/blob/v7.30.2/index.js
 */
const require = createRequire(import.meta.url);
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js') as { readonly prototype: object };
Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'));

export const UndiciPool = require('undici/lib/dispatcher/pool.js') as typeof Pool;
