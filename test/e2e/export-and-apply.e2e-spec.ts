import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Administration } from '../support/administration.js';
import { jsonOf } from '../support/http-client.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';

/** Two installations start at once, and each command is a process of its own. */
const PATIENT_MS = 240_000;

/** One organization as a file for another installation, with the built commands. */
const started = new Started();
let one: OwnService;
let other: OwnService;
let folder: string;

beforeAll(async () => {
  folder = started.add(await mkdtemp(join(tmpdir(), 'gatehouse-export-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const start = async (): Promise<OwnService> =>
    started.add(await startService({ env: { GATEHOUSE_PROCESSES: '1' }, withinMs: PATIENT_MS }), (it) =>
      it.dispose(),
    );
  [one, other] = await Promise.all([start(), start()]);
}, PATIENT_MS);
afterAll(() => started.end());

const gatehouse = (service: OwnService, ...args: string[]): ReturnType<typeof runToEnd> =>
  runToEnd(
    [...args, '--url', service.baseUrl, '--key-env', 'ADMIN_KEY'],
    { ADMIN_KEY: service.bootstrap.admin_api_key, OPENAI_PROD_KEY: 'sk-of-openai' },
    PATIENT_MS,
  );

/** Users in every state, and limits of every resource that has them. */
async function fill(administration: Administration, { bootstrap, client }: OwnService): Promise<void> {
  const usage_limits = [{ credit_limit: 50, type: 'cost', alert_threshold: 40, periodic_reset: 'monthly' }];
  const rate_limits = [
    { type: 'requests', unit: 'rpm', value: 60 },
    { type: 'concurrency', value: 4, on_store_failure: 'closed' },
  ];
  const research = await administration.ask('POST', '/v1/admin/workspaces', {
    name: 'Research',
    usage_limits,
    rate_limits,
  });
  await administration.ask('POST', '/v1/virtual-keys', {
    slug: 'openai-prod',
    name: 'OpenAI',
    provider: 'openai',
    key: 'sk-of-openai',
    workspace_id: bootstrap.workspace_id,
    rate_limits,
  });
  const { data: apiKeys } = await administration.ask('GET', '/v1/api-keys');
  for (const { id, workspace_id } of apiKeys)
    if (workspace_id) await administration.ask('PUT', `/v1/api-keys/${id}`, { usage_limits, rate_limits });
  const invite = (email: string, role: string, workspaces: object[]) =>
    administration.ask('POST', '/v1/admin/users/invites', { email, role, workspaces });
  const joined = await invite('ada@example.com', 'member', [
    { id: research.id, role: 'manager' },
    { id: bootstrap.workspace_slug, role: 'member' },
  ]);
  const token = String(joined.invite_link).split('#')[1];
  const body = { token, first_name: 'Ada', last_name: 'Lovelace' };
  await client.call({ method: 'POST', path: '/v1/admin/invites/accept', body });
  await invite('grace@example.com', 'admin', []);
  await invite('mary@example.com', 'member', [{ id: research.id, role: 'member' }]);
}

describe('gatehouse export', { timeout: PATIENT_MS }, () => {
  it('of a whole organization is applied to an empty installation, whose export is then the same', async () => {
    await fill(new Administration(one), one);
    const exported = await gatehouse(one, 'export');
    expect(exported, exported.output).toMatchObject({ code: 0 });
    const file = join(folder, 'one.yaml');
    await writeFile(file, exported.output);

    const applied = await gatehouse(other, 'apply', '-f', file, '--yes');
    expect(applied, applied.output).toMatchObject({ code: 0 });
    expect(applied.output).toContain('created  invite of "ada@example.com"');
    expect(applied.output).not.toContain('gw_invite_');
    expect((await gatehouse(other, 'export')).output).toBe(exported.output);
    for (const service of [one, other])
      expect((await gatehouse(service, 'apply', '-f', file, '--yes')).output).toBe('Nothing to change.\n');

    const { users, api_keys, workspaces } = parse(exported.output);
    expect(users.map(({ email }: { email: string }) => email)).toEqual([
      'ada@example.com',
      'grace@example.com',
      'mary@example.com',
    ]);
    expect(workspaces).toContainEqual(expect.objectContaining({ usage_limits: [expect.any(Object)] }));
    expect(api_keys).toContainEqual(expect.objectContaining({ rate_limits: expect.any(Array) }));
    expect(exported.output).toMatch(/# Not in this file:\n#   - secrets:.*\n(?:#.*\n)*#   - records:/);
    expect(exported.output).not.toMatch(/sk-of|gw_invite_/);
  });

  it('with a changed role changes the user who exists and sends the invite of the other again', async () => {
    const { output } = await gatehouse(one, 'export');
    const file = join(folder, 'two.yaml');
    await writeFile(file, output.replaceAll('role: manager', 'role: member'));
    for (const service of [one, other])
      expect(await gatehouse(service, 'apply', '-f', file, '--yes')).toMatchObject({ code: 0 });

    const [exported, again] = [await gatehouse(one, 'export'), await gatehouse(other, 'export')];
    expect(exported.output).toBe(again.output);
    expect(parse(exported.output).users[0].workspaces).not.toContainEqual(
      expect.objectContaining({ role: 'manager' }),
    );
    const invites = await other.client.call({
      path: '/v1/admin/users/invites?email=ada%40example.com',
      headers: { 'x-gateway-api-key': other.bootstrap.admin_api_key },
    });
    const statuses = jsonOf(invites).data.map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['pending', 'cancelled']);
  });
});
