import { createRequire } from 'node:module';
import type { Pool } from 'undici';

/**
 * undici's pool alone. What the package as a whole loads beside it (fetch, WebSocket, caches, mocks) takes 3 MB of heap in every
 * gateway process. Its files can be named, since it has no `exports`, and its main one gives dispatchers their methods as is
 * done here: https://github.com/nodejs/undici/blob/v7.30.2/index.js
 */
const require = createRequire(import.meta.url);
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js') as { readonly prototype: object };
Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'));

export const UndiciPool = require('undici/lib/dispatcher/pool.js') as typeof Pool;
