import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AdminApp } from '../../support/admin-app.js';
import { storeAttempts, storeBatch, type StoredRequest } from '../../support/stored-batches.js';

let app: AdminApp;
let own: { id: string; key: string };

beforeAll(async () => {
  app = await AdminApp.start();
  own = await app.workspaceKey(['logs.list', 'logs.view']);
});
afterAll(() => app.close());

const get = async (id: string) => (await app.call('GET', `/v1/logs/${id}`, { key: own.key })).body;

async function stored(
  request: StoredRequest,
  paths: readonly string[],
  statuses: readonly number[],
): Promise<string> {
  const id = uuidV7(Date.now());
  const { organisation_id, workspace_id } = app.first;
  await storeBatch(app.dataSource, [{ organisation_id, workspace_id, api_key_id: own.id, ...request, id }]);
  await storeAttempts(app.dataSource, id, statuses);
  for (const [attempt, path] of paths.entries())
    await app.dataSource.query(
      'UPDATE request_attempts SET option_path = $3 WHERE id = $1 AND attempt = $2',
      [id, attempt, path],
    );
  return id;
}

describe('the route of a request', () => {
  const config = {
    strategy: { mode: 'fallback', on_status_codes: [429] },
    targets: [
      { provider: 'sandbox', retry: { attempts: 1, on_status_codes: [429] } },
      { provider: 'sandbox' },
    ],
  };
  const [first, second] = ['config.targets[0]', 'config.targets[1]'];

  it('names the config version, its decisions, and why each attempt was made', async () => {
    const { body } = await app.call('POST', '/v1/configs', {
      body: { name: 'Prod', slug: 'pc-prod', config, workspace_id: app.first.workspace_id },
    });
    const { id: config_id, version_id: config_version_id } = body.data;
    const decisions = ['1 of 3 targets are out of service', 'config: config.targets[0] by weight'];
    const id = await stored(
      { config_id, config_version_id, decisions },
      [first, first, second],
      [429, 429, 200],
    );

    expect(await get(id)).toMatchObject({
      config: { slug: 'pc-prod', name: 'Prod', version: 1 },
      decisions,
      route: [
        { kind: 'out_of_service', target: null },
        { kind: 'balance', path: 'config', target: first, by: 'weight' },
      ],
      attempts: [
        { reason: { kind: 'first', setting: null } },
        {
          reason: { kind: 'retry', after_attempt: 0, status: 429, setting: `${first}.retry.on_status_codes` },
        },
        {
          reason: {
            kind: 'fallback',
            after_attempt: 1,
            status: 429,
            setting: 'config.strategy.on_status_codes',
          },
        },
      ],
    });
  });

  it('is shown without a config that was removed, or that belongs to another organization', async () => {
    const foreign = await app.anotherOrganization();
    const [config_id, config_version_id] = [randomUUID(), randomUUID()];
    await app.dataSource.query(
      `WITH theirs AS (
         INSERT INTO configs (id, organization_id, workspace_id, name, slug, status, is_default, version_id)
         VALUES ($1, $2, $3, 'Theirs', 'pc-theirs', 'active', false, $4))
       INSERT INTO config_versions (id, config_id, organization_id, number, document) VALUES ($4, $1, $2, 1, $5)`,
      [config_id, foreign.organizationId, foreign.workspaceId, config_version_id, JSON.stringify(config)],
    );

    for (const used of [
      { config_id, config_version_id },
      { config_id: randomUUID(), config_version_id: randomUUID() },
      {},
    ]) {
      const body = await get(await stored(used, [first, second], [429, 200]));
      expect(body).not.toHaveProperty('config');
      expect(body.attempts[1].reason).toMatchObject({ kind: 'fallback', status: 429, setting: null });
    }
  });
});

describe('what an attempt was charged to', () => {
  const counterOf = async (limitId: string, organizationId: string = app.first.organisation_id) => {
    const key = `${limitId}:test`;
    await app.dataSource.query(
      `INSERT INTO limit_counters (key, organization_id, limit_id, measure, amount) VALUES ($1, $2, $3, 'cost', 1000)`,
      [key, organizationId, limitId],
    );
    return key;
  };
  const charge = (id: string, attempt: number, keys: readonly string[]) =>
    app.dataSource.query('UPDATE request_attempts SET charged = $3 WHERE id = $1 AND attempt = $2', [
      id,
      attempt,
      JSON.stringify(keys),
    ]);

  it('is shown per budget, with the name of its owner, and without a name when that is gone', async () => {
    const [ofKey, removed, theirs] = [randomUUID(), randomUUID(), randomUUID()];
    await app.dataSource.query('UPDATE api_keys SET name = $2, usage_limits = $3 WHERE id = $1', [
      own.id,
      'support-bot',
      JSON.stringify([{ id: ofKey, type: 'cost' }]),
    ]);
    const foreign = await app.anotherOrganization();
    const id = await stored({}, ['config', 'config'], [500, 200]);
    await charge(id, 1, [
      await counterOf(ofKey),
      await counterOf(removed),
      await counterOf(theirs, foreign.organizationId),
    ]);

    const { attempts } = await get(id);

    expect(attempts[0].charged_to).toEqual([]);
    expect(attempts[1].charged_to).toEqual([
      { limit_id: ofKey, measure: 'cost', subject: 'api_key', name: 'support-bot' },
      { limit_id: removed, measure: 'cost', subject: null, name: null },
    ]);
  });
});
