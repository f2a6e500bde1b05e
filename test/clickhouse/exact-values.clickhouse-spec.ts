import { chdb } from '../support/chdb.js';
import { runOnClickHouse } from '../support/usage-store.js';

runOnClickHouse(chdb);

// The suite is the contract of both stores.
await import('../integration/analytics/exact-values.spec.js');
