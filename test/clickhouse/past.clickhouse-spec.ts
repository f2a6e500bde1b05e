import { chdb } from '../support/chdb.js';
import { runOnClickHouse } from '../support/usage-store.js';

// Retention is that of the suite, not of the tables.
runOnClickHouse(() => chdb({ retentionDays: { logs: 0, bodies: 0, minutes: 0 } }));

// The suite is the contract of both stores.
await import('../integration/analytics/past.spec.js');
