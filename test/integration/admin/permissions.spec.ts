import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/admin/openapi.js';
import {
  CALLERS,
  type CallerName,
  GUARDED,
  type Permission,
  PERMISSIONS,
  PUBLIC,
} from './permissions.table.js';
import { PermissionWorld } from './permissions.world.js';

let world: PermissionWorld;
beforeAll(async () => {
  world = await PermissionWorld.make();
});
afterAll(() => world.close());

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const cells = PERMISSIONS.flatMap((permission) =>
  permission.statuses.split(/[ |]+/).map((status, index) => ({
    permission,
    caller: CALLERS[index]?.[0] as CallerName,
    status: Number(status),
  })),
);
const withTarget = PERMISSIONS.filter(({ operation }) => operation.includes('{'));

describe('the table of permissions', () => {
  it('has one line for each operation of the administration, and a status for each caller', () => {
    const { paths } = buildOpenApi(world.app.app);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${path}`),
    );

    const known = [...PERMISSIONS.map(({ operation }) => operation), ...GUARDED, ...PUBLIC];
    expect(known.sort()).toEqual(operations.sort());
    for (const { statuses } of PERMISSIONS) expect(statuses.match(/\d{3}/g)).toHaveLength(CALLERS.length);
  });

  it.each(cells)('$permission.operation by $caller: $status', async ({ permission, caller, status }) => {
    const answer = await world.ask(permission, caller);

    expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
    expect(answer.text).not.toContain('canary');
  });

  it.each(GUARDED)(
    '%s is closed to nobody, to an expired key and to a key without the scope',
    async (operation) => {
      const permission = { operation: operation as Permission['operation'], statuses: '' };
      expect((await world.ask(permission, 'nobody', randomUUID())).status).toBe(401);
      expect((await world.ask(permission, 'expired', randomUUID())).status).toBe(401);
      expect((await world.ask(permission, 'keyWithout', randomUUID())).status).toBe(403);
    },
  );

  it.each(withTarget)(
    '$operation tells nobody whether what is not theirs is there',
    async (permission: Permission) => {
      for (const caller of ['managerElsewhere', 'keyElsewhere', 'stranger'] as const) {
        const [there, absent] = [
          await world.ask(permission, caller),
          await world.ask(permission, caller, randomUUID()),
        ];
        const said = ({ status, text, headers }: typeof there) => ({
          status,
          text: text.replace(/"request_id":"[^"]+"/, ''),
          headers: Object.keys(headers).sort(),
        });
        expect(said(there)).toEqual(said(absent));
      }
    },
  );

  it('shows in lists what lies within reach, and nothing else', async () => {
    for (const operation of ['GET /v1/api-keys', 'GET /v1/virtual-keys', 'GET /v1/logs'] as const)
      for (const caller of ['managerElsewhere', 'keyElsewhere', 'stranger'] as const) {
        const { body } = await world.ask({ operation, statuses: '' }, caller);
        const seen = JSON.stringify(body.data);
        expect(seen).not.toContain(world.app.first.workspace_id);
      }
  });
});
