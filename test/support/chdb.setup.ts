import { emptyChdb } from './chdb.js';
import { runOnPostgres } from './usage-store.js';

// The files share a process and with it the engine: each begins with one that holds nothing, and says itself whether its suite uses it.
runOnPostgres();
await emptyChdb();
