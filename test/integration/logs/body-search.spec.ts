import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { storeBatch, storeMessages } from '../../support/stored-batches.js';

const HOUR_MS = 3_600_000;

let app: AdminApp;
let own: string;
let since: string;

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_BODY_SEARCH: 'on' });
  own = (await app.workspaceKey(['logs.list', 'logs.view'])).key;
  since = new Date(Date.now() - 24 * HOUR_MS).toISOString();
});
afterAll(() => app.close());

/** A request whose answer was this. */
async function answered(body: Buffer, more: object = {}, stored: object = {}): Promise<string> {
  const id = uuidV7(Date.now());
  await storeBatch(app.dataSource, [
    { id, organisation_id: app.first.organisation_id, workspace_id: app.first.workspace_id, ...more },
  ]);
  await storeMessages(app.dataSource, id, [
    { direction: 'response', body, content_type: 'application/json', ...stored },
  ]);
  return id;
}
const json = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ choices: [{ message: { content } }] }));

const search = (query: Record<string, string>, key = own) =>
  app.call('GET', `/v1/logs?${new URLSearchParams({ time_of_generation_min: since, ...query }).toString()}`, {
    key,
  });
const found = async (query: Record<string, string>, key?: string): Promise<string[]> => {
  const { status, text, body } = await search(query, key);
  expect(status, text).toBe(200);
  return body.data.map(({ id }: Json) => id);
};

describe('GET /v1/logs?search=', () => {
  it('finds requests by what is in their bodies, however those are packed, within the other filters', async () => {
    const plain = await answered(json('The code name is Wolpertinger.'));
    const packed = await answered(
      brotliCompressSync(gzipSync(json('A wolpertinger again'))),
      { model: 'other' },
      { stored_encoding: 'br', content_encoding: 'gzip' },
    );
    await answered(json('Nothing of the kind'));

    expect(await found({ search: 'WOLPERTINGER' })).toEqual([packed, plain]);
    expect(await found({ search: 'wolpertinger', model: 'other' })).toEqual([packed]);
    expect(await found({ search: 'wolpertingers' })).toEqual([]);
  });

  it('returns nothing of another workspace, another organization, or expired bodies', async () => {
    const two = await app.anotherWorkspace('ws-two');
    const foreign = await app.anotherOrganization();
    const inTwo = await answered(json('elwetritsch'), { workspace_id: two });
    await answered(json('elwetritsch'), {
      organisation_id: foreign.organizationId,
      workspace_id: foreign.workspaceId,
    });
    const old = await answered(json('elwetritsch'), { created_at: new Date(Date.now() - 72 * HOUR_MS) });
    const time_of_generation_min = new Date(Date.now() - 240 * HOUR_MS).toISOString();
    const wanted = { search: 'elwetritsch', time_of_generation_min };

    expect(await found(wanted)).toEqual([old]);
    expect(new Set(await found(wanted, app.first.admin_api_key))).toEqual(new Set([old, inTwo]));
    await app.call('PUT', '/v1/admin/organisation', { body: { body_retention_days: 1 } });
    expect(await found(wanted)).toEqual([]);
    await app.call('PUT', '/v1/admin/organisation', { body: { body_retention_days: null } });
  });

  it('requires the right to read bodies', async () => {
    const { key } = await app.workspaceKey(['logs.list']);

    const refused = await search({ search: 'wolpertinger' }, key);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toContain('logs.view');
  });

  it('continues where it stopped: pages together hold each match once', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) {
      ids.push(await answered(json(`rasselbock ${at}`), { trace_id: 'pages' }));
      await answered(json('something else'), { trace_id: 'pages' });
    }
    const seen: string[] = [];
    let searched = 0;
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Json = await search({
        search: 'rasselbock',
        trace_id: 'pages',
        page_size: '3',
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...body.data.map(({ id }: Json) => id));
      searched += Number(body.searched_rows);
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(ids.reverse());
    expect(searched).toBe(14);
  });

  it.each([
    [{ search: 'ab' }, 'search'],
    [{ search: 'x'.repeat(257) }, 'search'],
    [{ search: 'long ago', time_of_generation_min: '2020-01-01' }, 'time_of_generation_min'],
    [{ search: 'ever', time_of_generation_min: '' }, 'time_of_generation_min'],
    [{ search: 'how many', include_total: 'true' }, 'include_total'],
  ])('refuses %j and names %s', async (query, name) => {
    const refused = await search(query);

    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain(`"${name}"`);
  });

  it('is no parameter of the stream', async () => {
    const refused = await app.call('GET', '/v1/logs/stream?search=something', { key: own });

    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('"search"');
  });

  it('says why it cannot be, where bodies are not kept or the operator has not turned it on', async () => {
    await app.call('PUT', '/v1/admin/organisation', { body: { log_bodies: false } });
    const refused = await search({ search: 'wolpertinger' });
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({ code: 'body_search_unavailable' });
    expect(refused.body.error.message).toContain('log_bodies');
    await app.call('PUT', '/v1/admin/organisation', { body: { log_bodies: true } });

    for (const [settings, word] of [
      [{ bodySearch: false }, 'GATEHOUSE_BODY_SEARCH'],
      [{ logBodies: 'off' }, 'GATEHOUSE_LOG_BODIES'],
    ] as const) {
      const before = { ...app.settings };
      Object.assign(app.settings, settings);
      const { status, body } = await search({ search: 'wolpertinger' });
      Object.assign(app.settings, before);
      expect(status).toBe(409);
      expect(body.error.message).toContain(word);
    }
  });
});
