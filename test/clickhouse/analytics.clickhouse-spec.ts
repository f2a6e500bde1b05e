import { chdb } from '../support/chdb.js';
import { runOnClickHouse } from '../support/usage-store.js';

runOnClickHouse(chdb);

// The suite of the analytics is the contract: what it says of PostgreSQL it says here of ClickHouse.
await import('../integration/analytics/analytics.spec.js');
