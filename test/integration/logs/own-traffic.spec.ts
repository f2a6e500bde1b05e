import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { exportWriter } from '../../support/log-exports.js';
import { storeBatch } from '../../support/stored-batches.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

let app: AdminApp;
let folder: string;
/** Keys of a member, of a manager, and of a service. */
let member: { id: string; key: string };
let manager: { id: string; key: string };
let service: { id: string; key: string };
const ids: Record<string, string> = {};
const SCOPES = ['logs.list', 'logs.view', 'logs.export', 'analytics.view'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-own-'));
  app = await AdminApp.start({ GATEHOUSE_EXPORT_DIR: folder });
  [member, manager] = [await userKey('member'), await userKey('manager')];
  service = await app.workspaceKey([...SCOPES] as never);
  const rows = Object.entries({ member, manager, service, token: { id: null } }).map(([whose, { id }]) => {
    ids[whose] = uuidV7(Date.now());
    return {
      id: ids[whose],
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      api_key_id: id as string,
      trace_id: 'shared',
    };
  });
  await aggregatorOn(app.dataSource, clickHouseUnderTest()).aggregate(await storeBatch(app.dataSource, rows));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

async function userKey(role: string): Promise<{ id: string; key: string }> {
  const person = await app.aPerson({ workspaces: [{ id: app.first.workspace_id, role }] });
  const body = { name: role, workspace_id: app.first.workspace_id, user_id: person.id, scopes: SCOPES };
  const made = await app.call('POST', '/v1/api-keys/workspace/user', { body });
  expect(made.status, made.text).toBe(200);
  return made.body;
}

const turn = (security_settings: object) =>
  app.call('PUT', '/v1/admin/organisation', { body: { security_settings } });
const get = async (path: string, key: string): Promise<Json> => (await app.call('GET', path, { key })).body;

async function seenBy(key: string): Promise<string[]> {
  const listed = await get('/v1/logs?include_total=true', key);
  const spans = (await get('/v1/logs/traces/shared', key)).spans ?? [];
  const graph = await get('/v1/analytics/graphs/requests', key);
  const groups = await get('/v1/analytics/groups/ai-models', key);
  expect([
    listed.total,
    spans.length || listed.total,
    graph.summary.total,
    Number(groups.data[0].requests),
  ]).toEqual(Array(4).fill(listed.data.length));
  return Object.keys(ids).filter((whose) => (listed.data as Json[]).some(({ id }) => id === ids[whose]));
}

describe('a member restricted to traffic of their own keys', () => {
  it('has no user, unless the organization enabled it', async () => {
    for (const { key } of [member, manager, service]) expect(await seenBy(key)).toHaveLength(4);
  });

  it('sees it in lists, traces, single requests and analytics, and service keys see all', async () => {
    await turn({ membersViewAllData: false });

    expect(await seenBy(member.key)).toEqual(['member']);
    expect(await seenBy(manager.key)).toHaveLength(4);
    expect(await seenBy(service.key)).toHaveLength(4);
    expect((await app.call('GET', `/v1/logs/${ids['manager']}`, { key: member.key })).status).toBe(404);
    expect((await app.call('GET', `/v1/logs/${ids['member']}`, { key: member.key })).status).toBe(200);
    await turn({ membersViewAllData: true, managersViewAllData: false });
    expect(await seenBy(manager.key)).toEqual(['manager']);
    expect(await seenBy(member.key)).toHaveLength(4);
    await turn({ managersViewAllData: true });
  });

  it('exports nothing else, and finds no exports of others', async () => {
    const create = async (key: string) => {
      const body = { filters: {}, requested_data: ['id'] };
      const { id, total } = (await app.call('POST', '/v1/logs/exports', { key, body })).body;
      await app.call('POST', `/v1/logs/exports/${id}/start`, { key, body: {} });
      return { id, total };
    };
    const [early, others] = [await create(member.key), await create(service.key)];
    await turn({ membersViewAllData: false });
    const late = await create(member.key);
    const writer = exportWriter(app.dataSource, { folder });
    for (const { id } of [early, others, late]) expect(await writer.write(id)).toBe('success');

    expect([early.total, others.total, late.total]).toEqual([4, 4, 1]);
    for (const { id } of [early, late])
      expect((await readFile(join(folder, `${id}.jsonl`), 'utf8')).trim()).toBe(`{"id":"${ids['member']}"}`);
    expect((await get('/v1/logs/exports', member.key)).total).toBe(2);
    expect(
      (await app.call('GET', `/v1/logs/exports/${others.id}/download`, { key: member.key })).status,
    ).toBe(404);
  });

  it('reads in the feedback on a shared trace the models of what they see', async () => {
    const trace_id = 'two-models';
    const at = Date.now();
    const of = { organisation_id: app.first.organisation_id, workspace_id: app.first.workspace_id, trace_id };
    await storeBatch(app.dataSource, [
      { ...of, api_key_id: member.id, model: 'my-model', created_at: new Date(at - 2_000) },
      { ...of, api_key_id: manager.id, model: 'secret-model', created_at: new Date(at - 1_000) },
    ]);
    const giver = await app.workspaceKey(['logs.write']);
    const given = await app.call('POST', '/v1/feedback', { key: giver.key, body: { trace_id, value: 7 } });
    expect(given.status, given.text).toBe(200);
    const models = async (key: string): Promise<string[]> => {
      const { data_points } = await get('/v1/analytics/graphs/feedbacks/ai-models', key);
      return (data_points as Json[]).map(({ ai_model }) => ai_model as string);
    };

    await turn({ membersViewAllData: false });

    expect(await models(service.key)).toEqual(['secret-model']);
    expect(await models(member.key)).toEqual(['my-model']);
    await turn({ membersViewAllData: true });
    expect(await models(member.key)).toEqual(['secret-model']);
  });
});
