import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdministrationApi } from '../../../src/admin/openapi/document.js';
import type { Answer } from '../../support/admin-app.js';
import {
  CALLERS,
  type CallerName,
  ENDLESS,
  OF_SESSIONS,
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

const titled = PERMISSIONS.map((permission) => ({
  ...permission,
  title: `${permission.operation}${permission.on ? ` (${permission.on})` : ''}`,
}));

/** The statuses of a line, by caller. */
function expected({ statuses }: Permission): Record<CallerName, number> {
  const inOrder = statuses.split(/[ |]+/).map(Number);
  const pairs = CALLERS.map(([name], index) => [name, inOrder[index]]);
  return Object.fromEntries(pairs) as Record<CallerName, number>;
}

/** What can be told of an answer, but for what differs between any two. */
function told({ status, text, headers }: Answer): object {
  const same = Object.entries(headers).filter(([name]) => !['date', 'x-gateway-request-id'].includes(name));
  return { status, text: text.replace(/"request_id":"[^"]+"/, ''), headers: Object.fromEntries(same) };
}

describe('the table of permissions', () => {
  it('has a line for each operation of the administration, and a status for each caller', () => {
    const { paths } = buildAdministrationApi(world.app.app, { withDeprecated: true });
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${path}`),
    );

    const known = new Set([...PERMISSIONS.map(({ operation }) => operation), ...PUBLIC, ...OF_SESSIONS]);
    expect([...known].sort()).toEqual(operations.sort());
    for (const { statuses } of PERMISSIONS) expect(statuses.match(/\d{3}/g)).toHaveLength(CALLERS.length);
  });

  it.each(titled)('$title returns the documented status to each caller', async (permission) => {
    const wanted = expected(permission);
    const found: Record<string, number> = {};
    const isEndless = ENDLESS.includes(permission.operation);
    const hear = async (caller: CallerName): Promise<void> => {
      if (isEndless && wanted[caller] === 200) return void (found[caller] = 200);
      const answer = await world.ask(permission, caller);
      found[caller] = answer.status;
      expect(answer.text).not.toContain('canary');
      if (answer.status === 404 && wanted[caller] === 404)
        expect(told(answer), `${caller} can tell what is there`).toEqual(
          told(await world.ask(permission, caller, false)),
        );
    };
    // Who reads is in nobody's way; changes take turns, as each may take the thing away.
    if (permission.operation.startsWith('GET')) await Promise.all(CALLERS.map(([caller]) => hear(caller)));
    else for (const [caller] of CALLERS) await hear(caller);
    expect(found).toEqual(wanted);
  });

  it('lists what is within reach, and nothing else', async () => {
    const lists = PERMISSIONS.filter(({ operation, statuses, on }) => {
      const isRead = operation.startsWith('GET') && !ENDLESS.includes(operation);
      const isList = isRead && !operation.includes('{') && on === undefined;
      return isList && expected({ operation, statuses }).keyElsewhere === 200;
    });
    expect(lists.length).toBeGreaterThan(10);
    for (const permission of lists)
      for (const caller of ['managerElsewhere', 'keyElsewhere', 'stranger'] as const)
        expect((await world.ask(permission, caller)).text, permission.operation).not.toContain(
          world.app.first.workspace_id,
        );
  });
});
