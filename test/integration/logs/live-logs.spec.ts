import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresLogRows } from '../../../src/admin/logs/rows/postgres-log-rows.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { storeBatch } from '../../support/stored-batches.js';
import { eventually } from '../../support/waiting.js';

let app: AdminApp;
let url: string;
let workspaceTwo: string;
const open: AbortController[] = [];

beforeAll(async () => {
  app = await AdminApp.start();
  await app.app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.app.getHttpServer().address() as AddressInfo).port}/v1/logs/stream`;
  workspaceTwo = await app.anotherWorkspace('ws-two');
});
afterEach(() => open.splice(0).forEach((each) => each.abort()));
afterAll(() => app.close());

interface Watched {
  readonly status: number;
  readonly events: Json[];
  readonly isOver: () => boolean;
}

async function watch(key: string, query = ''): Promise<Watched> {
  const controller = new AbortController();
  open.push(controller);
  const answer = await fetch(url + query, {
    headers: { 'x-gateway-api-key': key },
    signal: controller.signal,
  });
  const events: Json[] = [];
  let over = false;
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const [, event, data] = /event: (.*)\ndata: (.*)/.exec(part) ?? [];
        if (event) events.push({ event, data: JSON.parse(data as string) });
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (over = true));
  return { status: answer.status, events, isOver: () => over };
}

const store = (trace_id: string, more: object = {}, batchId?: string) =>
  storeBatch(
    app.dataSource,
    [{ organisation_id: app.first.organisation_id, workspace_id: app.first.workspace_id, trace_id, ...more }],
    batchId === undefined ? {} : { batchId },
  );
const FIRST_LOOK = 'first-look-';
const traces = ({ events }: Watched) =>
  events.map(({ data }) => data.trace_id as string).filter((trace) => !trace.startsWith(FIRST_LOOK));

/** Rows are new from the first look on: one that all of them have seen came after it. */
async function untilTheyLook(watchers: readonly Watched[], more: object): Promise<void> {
  let stored = 0;
  await eventually(
    async () => {
      await store(`${FIRST_LOOK}${++stored}`, more);
      return watchers.every(({ events }) => events.length > 0);
    },
    { everyMs: 200, what: 'the first look' },
  );
}

describe('GET /v1/logs/stream', () => {
  it('sends new requests that fit and are within reach, each once, also one that is committed late', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    await store('before');
    const [all, some, admin] = [
      await watch(key),
      await watch(key, '?ai_model=gpt-9'),
      await watch(app.first.admin_api_key),
    ];
    await untilTheyLook([all, some, admin], { model: 'gpt-9' });
    await storeLate();
    await store('one', { model: 'gpt-9' });
    await store('elsewhere', { workspace_id: workspaceTwo });

    await eventually(
      () => traces(admin).length === 3 && traces(all).length === 2 && traces(some).length === 1,
      { what: 'events' },
    );
    expect(traces(all).sort()).toEqual(['late', 'one']);
    expect(traces(some)).toEqual(['one']);
    expect(traces(admin).sort()).toEqual(['elsewhere', 'late', 'one']);
    expect(all.events.at(-1)).toMatchObject({
      event: 'log',
      data: { object: 'log', organisation_id: app.first.organisation_id },
    });
  });

  it('ends when its key is revoked', async () => {
    const { id, key } = await app.workspaceKey(['logs.list']);
    const watched = await watch(key);
    await untilTheyLook([watched], {});
    watched.events.length = 0;
    await app.call('DELETE', `/v1/api-keys/${id}`);

    await eventually(async () => watched.isOver(), { what: 'the end' });
    expect(watched.events.filter(({ event }) => event !== 'log')).toEqual([
      { event: 'end', data: { reason: 'key_revoked' } },
    ]);
  });

  it('G38: ends when the role of the user behind its key is revoked', async () => {
    const { id } = await app.aPerson({ role: 'admin' });
    const watched = await watch(await app.adminKeyOf(id));
    await untilTheyLook([watched], {});
    watched.events.length = 0;
    expect((await app.call('PUT', `/v1/admin/users/${id}`, { body: { role: 'member' } })).status).toBe(200);

    await eventually(async () => watched.isOver(), { what: 'the end' });
    expect(watched.events.filter(({ event }) => event !== 'log')).toEqual([
      { event: 'end', data: { reason: 'key_revoked' } },
    ]);
  });

  it('shows a user limited to their own traffic from now on nothing else, while it runs', async () => {
    const person = await app.aPerson({ workspaces: [{ id: app.first.workspace_id, role: 'member' }] });
    const body = {
      name: 'own',
      workspace_id: app.first.workspace_id,
      user_id: person.id,
      scopes: ['logs.list'],
    };
    const { id, key } = (await app.call('POST', '/v1/api-keys/workspace/user', { body })).body;
    const watched = await watch(key);
    await untilTheyLook([watched], {});
    const turn = (membersViewAllData: boolean) =>
      app.call('PUT', '/v1/admin/organisation', { body: { security_settings: { membersViewAllData } } });
    const sees = async (trace: string, more: object = {}) => {
      await store(trace, more);
      await store(`${trace}-own`, { api_key_id: id });
      await eventually(async () => traces(watched).includes(`${trace}-own`), { what: trace });
      return traces(watched).includes(trace);
    };
    expect(await sees('as-a-member')).toBe(true);
    await turn(false);
    let tries = 0;
    await eventually(async () => !(await sees(`narrowed-${++tries}`)), { what: 'the narrower sight' });
    expect(await sees('of-others')).toBe(false);
    expect(watched.isOver()).toBe(false);
    await turn(true);
  });

  it('is open five times to a workspace, and to no key without the scope', async () => {
    const [{ key }, other] = [
      await app.workspaceKey(['logs.list'], workspaceTwo),
      await app.workspaceKey(['logs.view']),
    ];
    for (let at = 0; at < 5; at++) expect((await watch(key)).status).toBe(200);

    expect((await watch(key)).status).toBe(429);
    expect((await watch(other.key)).status).toBe(403);
    expect((await watch(key, '?nonsense=1')).status).toBe(400);
  });

  it('brings what could not be read when it can be read, and whom it fails for holds up no other', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    const [one, other] = [await watch(key), await watch(key, '?ai_model=gpt-9')];
    await untilTheyLook([one, other], { model: 'gpt-9' });
    const rows = app.app.get(PostgresLogRows);
    const failing = vi.spyOn(rows, 'ofBatch').mockImplementation(async (reach, conditions, ...rest) => {
      if (conditions.every(({ sql }) => !sql('').startsWith('model')))
        throw new Error('both connections are taken');
      return PostgresLogRows.prototype.ofBatch.call(rows, reach, conditions, ...rest);
    });
    try {
      await store('while-it-fails', { model: 'gpt-9' });
      await eventually(async () => traces(other).length === 1, { what: 'the other reader' });
      expect(traces(one)).toEqual([]);
    } finally {
      failing.mockRestore();
    }
    await eventually(async () => traces(one).length === 1, { what: 'what was missed' });
    expect([traces(one), traces(other)]).toEqual([['while-it-fails'], ['while-it-fails']]);
  });

  it('brings every row of a burst to a reader that keeps up', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    const watcher = await watch(key);
    await untilTheyLook([watcher], {});
    const burst = Array.from({ length: 100 }, (_, at) => ({
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      trace_id: `burst-${at}`,
    }));
    await storeBatch(app.dataSource, burst);
    await eventually(async () => traces(watcher).length >= 100, { what: 'the whole burst' });

    expect(watcher.events.filter(({ event }) => event === 'dropped')).toEqual([]);
    expect([...traces(watcher)].sort()).toEqual(burst.map(({ trace_id }) => trace_id).sort());
  });
});

/** A batch whose id was made two minutes ago, and which becomes visible only now. */
async function storeLate(): Promise<void> {
  const hex = (Date.now() - 120_000).toString(16).padStart(12, '0');
  await store('late', {}, `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8000-000000000001`);
}
