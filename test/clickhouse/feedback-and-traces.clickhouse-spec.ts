import { chdb } from '../support/chdb.js';
import { runOnClickHouse } from '../support/usage-store.js';

runOnClickHouse(chdb);

// What this suite says of PostgreSQL it says here of ClickHouse, with half of the batches still on their way there.
await import('../integration/logs/feedback-and-traces.spec.js');
