/** Gatehouse's records of the requests, read from its database after the load. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const KEPT = `
  SELECT (SELECT count(*) FROM request_logs)::int AS rows,
         (SELECT count(DISTINCT id) FROM request_logs)::int AS requests,
         (SELECT count(*) FROM request_logs WHERE cost_nano_usd > 0)::int AS priced,
         (SELECT count(DISTINCT request_id) FROM request_bodies)::int AS "withBodies",
         (SELECT coalesce(sum(requests), 0) FROM usage_minute)::int AS "rolledUp"`;

export class GatehouseLedger {
  #urlFile;

  /** @param {string} dataDir where the launcher stores the URL of the embedded database for its own processes */
  constructor(dataDir) {
    this.#urlFile = join(dataDir, 'run', 'database_url');
  }

  /**
   * Waits until the expected requests are stored and rolled up, or until `seconds` have passed without a new one.
   *
   * @returns {Promise<{ rows: number, requests: number, priced: number, withBodies: number, rolledUp: number }>}
   */
  async countUntil(expected, seconds = 20) {
    const client = new pg.Client({ connectionString: readFileSync(this.#urlFile, 'utf8').trim() });
    await client.connect();
    try {
      return await untilStored(client, { expected, seconds });
    } finally {
      await client.end();
    }
  }
}

async function untilStored(client, { expected, seconds }) {
  let deadline = Date.now() + seconds * 1000;
  let before = -1;
  for (;;) {
    const { rows } = await client.query(KEPT);
    const [kept] = rows;
    const stored = kept.requests + kept.rolledUp;
    if (stored >= 2 * expected || Date.now() > deadline) return kept;
    if (stored > before) deadline = Date.now() + seconds * 1000;
    before = stored;
    await sleep(500);
  }
}
