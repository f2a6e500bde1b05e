import { expect, it } from 'vitest';
import { chdb } from '../support/chdb.js';

it('a query that exceeds the time limit of ClickHouse is refused as one, for every caller', async () => {
  const clickhouse = chdb({ readWithinS: 1 });

  await expect(
    clickhouse.read('SELECT count() FROM numbers(1000000000000) WHERE number % 7 = 3', {}),
  ).rejects.toMatchObject({ code: 'query_timeout' });
  // The same engine, which is free again; the limit of a second is for the question above.
  expect(await chdb().read('SELECT 1 AS one', {})).toEqual([{ one: 1 }]);
});
