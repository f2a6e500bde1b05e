import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TENANT_ROLE } from '../../../src/database/sessions/rls-check.js';
import type { Answer } from '../../support/admin-app.js';
import { administer } from '../../support/administer.js';
import {
  CALLERS,
  type CallerName,
  ENDLESS,
  type Permission,
  PERMISSIONS,
  type ThingName,
} from './permissions.table.js';
import { PermissionWorld } from './permissions.world.js';

/** What holds of all operations alike, walked along the table of permissions. */
let world: PermissionWorld;
beforeAll(async () => {
  world = await PermissionWorld.make();
});
afterAll(() => world.close());

const openapi = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenAPIObject;
const titled = PERMISSIONS.map((permission) => ({
  ...permission,
  title: `${permission.operation}${permission.on ? ` (${permission.on})` : ''}`,
}));
const isReading = ({ operation }: Permission) => operation.startsWith('GET ');

/** A caller who hears this of an operation. */
function callerWho({ statuses }: Permission, heard: number): CallerName | undefined {
  const inOrder = statuses.split(/[ |]+/).map(Number);
  // Keys before people: what they do is recorded under their own names.
  const order = CALLERS.map(([name], index) => [name, inOrder[index]] as const).sort(
    ([a], [b]) => Number(b.includes('Key')) - Number(a.includes('Key')),
  );
  return order.find(([, status]) => status === heard)?.[0];
}

/** Each table by what stands in it. */
async function state(...without: readonly string[]): Promise<Record<string, string>> {
  const { dataSource } = world.app;
  const tables: { name: string }[] = await dataSource.query(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  const sums = tables
    .filter(({ name }) => !without.includes(name))
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) AS sum FROM "${name}" t`,
    );
  const rows: { name: string; sum: string }[] = await dataSource.query(sums.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
}

describe('a change', () => {
  /** They answer a question, or tell of calls as the gateway does: none of it administers anything. */
  const UNRECORDED = ['POST /v1/configs/simulate', 'POST /v1/logs', 'POST /v1/otel/v1/traces'];
  const CHANGES = titled.filter(
    (permission) => !isReading(permission) && !UNRECORDED.includes(permission.operation),
  );
  const records = async () => (await world.app.audited()).length;

  it.each(CHANGES)('$title: has one record, done or refused', async (permission) => {
    const [doer, refused] = [callerWho(permission, 200), callerWho(permission, 403)];
    for (const [caller, outcome] of [
      [refused, 'refused'],
      [doer, 'success'],
    ] as const) {
      if (!caller) continue; // Nobody is refused who is known, or nobody is let in.
      const asked = await world.requestOf(permission);
      const before = await records();
      const answer = await world.send(asked, caller);
      const added = (await world.app.audited()).slice(before);
      if (answer.status < 300) await world.used(permission);

      expect(added).toMatchObject([
        { outcome, status: answer.status, request_id: answer.headers['x-gateway-request-id'] },
      ]);
    }
  });

  it.each(CHANGES)('N09: $title: does not happen without its record', async (permission) => {
    const asked = await world.requestOf(permission);
    const doer = callerWho(permission, 200) as CallerName;
    await administer(world.app.url, `REVOKE INSERT ON audit_records FROM ${TENANT_ROLE}`);
    let answer: Answer;
    const before = await state();
    const published = world.app.changes.length;
    try {
      answer = await world.send(asked, doer);
    } finally {
      await administer(world.app.url, `GRANT INSERT ON audit_records TO ${TENANT_ROLE}`);
    }
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'audit_unavailable' } } });
    expect(await state()).toEqual(before);
    expect(world.app.changes).toHaveLength(published);
  });

  /** Exporters of spans add fields as their protocol grows, and it asks receivers to pass over them. */
  const READS_A_BODY = titled.filter(({ operation }) => {
    const [method = '', path = ''] = operation.split(' ');
    const described = openapi.paths[path]?.[method.toLowerCase() as 'post'];
    return described?.requestBody !== undefined && operation !== 'POST /v1/otel/v1/traces';
  });

  it.each(READS_A_BODY)('G23, L04: $title: knows no field but its own', async (permission) => {
    const doer = callerWho(permission, 200) as CallerName;
    const asked = await world.requestOf(permission);
    const before = await state('audit_records', 'audit_heads');
    for (const field of ['is_admin', 'organization_id', 'created_by_user_id', 'key_hash', 'toString']) {
      const answer = await world.send({ ...asked, body: { ...(asked.body as object), [field]: 'x' } }, doer);

      expect([field, answer.status]).toEqual([field, 400]);
      expect(answer.body.error.message).toContain(`"${field}"`);
    }
    expect(await state('audit_records', 'audit_heads')).toEqual(before);
  });
});

describe('a reading', () => {
  /** They hand out files of the logs. */
  const RECORDED = ['GET /v1/logs/exports/{id}/download', 'GET /v1/audit-logs/export'];
  const READINGS = titled.filter(
    (permission) =>
      isReading(permission) &&
      !RECORDED.includes(permission.operation) &&
      !ENDLESS.includes(permission.operation),
  );

  it.each(READINGS)(
    '$title: changes nothing, and leaves no record unless it is refused',
    async (permission) => {
      const asked = await world.requestOf(permission);
      const before = await state();
      const reader = callerWho(permission, 200);
      if (reader) expect((await world.send(asked, reader)).status).toBe(200);
      expect(await state()).toEqual(before);

      const others = await state('audit_records', 'audit_heads');
      const refused = callerWho(permission, 403);
      if (refused) expect((await world.send(asked, refused)).status).toBe(403);
      expect(await state('audit_records', 'audit_heads')).toEqual(others);
    },
  );
});

describe('a list', () => {
  /** Analytics show sums and no ids: their own tests compare them with what is known. */
  const LISTS: readonly { readonly path: string; readonly holds?: ThingName }[] = [
    { path: '/v1/api-keys', holds: 'API key' },
    { path: '/v1/virtual-keys', holds: 'virtual key' },
    { path: '/v1/configs', holds: 'config' },
    { path: '/v1/integrations', holds: 'integration' },
    { path: '/v1/providers', holds: 'provider' },
    { path: '/v1/guardrails', holds: 'guardrail' },
    { path: '/v1/policies/usage-limits', holds: 'usage policy' },
    { path: '/v1/policies/rate-limits', holds: 'rate policy' },
    { path: '/v1/logs', holds: 'log' },
    { path: '/v1/logs/exports', holds: 'log export' },
    { path: '/v1/logs/views', holds: 'shared view' },
    { path: '/v1/admin/workspaces' },
    { path: '/v1/admin/legal-holds', holds: 'legal hold' },
    { path: '/v1/audit-logs' },
  ];

  it.each(LISTS)('G09: $path is not widened by its parameters', async ({ path, holds }) => {
    const { workspace_id: workspace, organisation_id: organization } = world.app.first;
    if (holds) await world.requestOf({ operation: `GET ${path}` as 'GET /v1/', statuses: '', on: holds });
    const ask = (query: string, caller: CallerName) =>
      world.send({ method: 'GET', url: `${path}${query}` }, caller);
    expect((await ask('', 'adminKey')).text, 'there is something to see').toContain(workspace);

    const names = ['workspace_id', 'workspace_id[]', 'workspace_slug', 'organisation_id'];
    const values = [workspace, 'ws-default', organization, randomUUID(), '*', '%', 'null', ''];
    const wide = names.flatMap((name) => values.map((value) => `${name}=${encodeURIComponent(value)}`));
    for (const caller of ['keyElsewhere', 'managerElsewhere', 'stranger'] as const)
      for (const query of [...wide, `workspace_id=${workspace}&workspace_id=${values[3]}`]) {
        const { status, text } = await ask(`?${query}`, caller);
        expect([200, 400, 403, 404], `${query} as ${caller}`).toContain(status);
        if (status === 200) expect(text, `${query} as ${caller}`).not.toContain(workspace);
        if (caller === 'stranger') expect(text, query).not.toContain(organization);
      }
  });
});
