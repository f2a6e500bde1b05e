import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';
import { administer } from '../../support/administer.js';
import { fillChain } from '../../support/audit.js';

const RECORDS = 1_300;
const BEGAN = Date.UTC(2020, 0, 1);
const moment = (seconds: number) => new Date(BEGAN + seconds * 1000).toISOString();
/** Clocks of several machines differ by minutes, many records have one time, and one clock was years ahead. */
const secondsOf = (seq: number): number =>
  seq === 700 ? 40_000_000 : Math.floor(seq / 4) * 4 - (seq % 3) * 90;
const SECONDS_SQL = 'CASE seq WHEN 700 THEN 40000000 ELSE seq / 4 * 4 - seq % 3 * 90 END';

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
  await fillChain(app, app.first.organisation_id, RECORDS);
  await administer(
    app.url,
    `SET session_replication_role = replica;
     UPDATE audit_records SET at = '${moment(0)}'::timestamptz + make_interval(secs => ${SECONDS_SQL})`,
  );
});
afterAll(() => app.close());

describe('audit records of a time', () => {
  it.each([
    [null, null],
    [0, null],
    [null, 700],
    [300, 900],
    [-100, 1_000_000],
    [1_216, 1_216],
    [50_000_000, null],
  ])('from second %s to second %s are listed newest first, page by page, and counted', async (from, to) => {
    const isWithin = (at: number) => (from === null || at >= from) && (to === null || at <= to);
    const expected = Array.from({ length: RECORDS }, (_, index) => RECORDS - index).filter((seq) =>
      isWithin(secondsOf(seq)),
    );
    const time = new URLSearchParams({
      // A filter of any kind, so that the list is never the whole chain.
      method: 'PUT',
      ...(from === null ? {} : { start_time: moment(from) }),
      ...(to === null ? {} : { end_time: moment(to) }),
    });
    for (const page of [0, 7, 12, 20]) {
      const { body } = await app.call(
        'GET',
        `/v1/audit-logs?${time.toString()}&page_size=100&current_page=${page}`,
      );
      expect(body.total).toBe(expected.length);
      const shown = (body.records as { readonly uri: string }[]).map(({ uri }) => uri);
      expect(shown).toEqual(
        expected.slice(page * 100, page * 100 + 100).map((seq) => `/v1/virtual-keys/key-${seq}`),
      );
    }
  });
});
