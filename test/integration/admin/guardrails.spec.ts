import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresGuardrailDirectory } from '../../../src/adapters/directories/postgres-guardrail-directory.js';
import { AdminApp, type Json } from '../../support/admin-app.js';

const PATH = '/v1/guardrails';
const CONTAINS = { id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } };

describe('guardrails', () => {
  let app: AdminApp;
  let workspaceTwo: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceTwo = await app.anotherWorkspace('ws-two');
  });
  afterAll(() => app.close());

  const make = (more: object = {}, key?: string) =>
    app.call('POST', PATH, {
      key,
      body: { name: 'No names', workspace_id: app.first.workspace_id, checks: [CONTAINS], ...more },
    });
  const reach = (workspaceId = app.first.workspace_id) => ({
    organizationId: app.first.organisation_id,
    workspaceId,
  });
  const directory = () =>
    new PostgresGuardrailDirectory(app.dataSource, { subscribe: () => undefined }, app.box, 0);
  const found = async (slug: string, workspaceId?: string): Promise<Json> =>
    directory().find(reach(workspaceId), slug);

  it('have a slug that is unique in the organization; a refusal names no resource of another workspace', async () => {
    const name = 'Only ws-two knows this name';
    const taken = await make({ slug: 'known-slug', name, workspace_id: workspaceTwo });
    expect(taken.status).toBe(200);
    const answers = await Promise.all([make({ slug: 'pg-wanted' }), make({ slug: 'pg-wanted' })]);
    const refused = await make({ slug: 'known-slug' });

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'conflict',
          message:
            'The slug "known-slug" is taken in this organization. Choose another one, or leave it out to get a free one.',
        },
      },
    });
  });

  it('are made, read, changed, listed and removed, each change with its audit record', async () => {
    const made = await make({ actions: { deny: true } });
    expect(made).toMatchObject({ status: 200, body: { slug: expect.stringMatching(/^pg-[0-9a-z]{10}$/) } });
    const { slug, id, version_id } = made.body;

    expect((await app.call('GET', `${PATH}/${slug}`)).body).toMatchObject({
      id,
      slug,
      version_id,
      name: 'No names',
      status: 'active',
      workspace_id: app.first.workspace_id,
      checks: [{ ...CONTAINS, is_enabled: true }],
      actions: { deny: true, async: false, sequential: false, fail_on_error: false },
    });
    const changed = await app.call('PUT', `${PATH}/${id}`, {
      body: { name: 'Still none', actions: { async: true } },
    });
    expect(changed).toMatchObject({ status: 200, body: { id, slug } });
    expect(changed.body.version_id).not.toBe(version_id);
    expect((await app.call('GET', `${PATH}/${slug}`)).body).toMatchObject({
      name: 'Still none',
      checks: [CONTAINS],
      actions: { deny: true, async: true },
    });
    const list = await app.call('GET', `${PATH}?workspace_id=${app.first.workspace_id}`);
    expect(list.body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ slug, name: 'Still none' })]),
    );
    expect((await app.call('DELETE', `${PATH}/${slug}`)).status).toBe(200);
    expect((await app.call('GET', `${PATH}/${slug}`)).status).toBe(404);
    const actions = (await app.audited())
      .filter((row: Json) => row.target_id === id)
      .map((row: Json) => row.action);
    expect(actions).toHaveLength(3);
  });

  it('keep their version when a change changes nothing', async () => {
    const { slug, version_id } = (await make()).body;
    const told = app.changes.length;
    const answer = await app.call('PUT', `/v1/guardrails/${slug}`, { body: {} });

    expect(answer).toMatchObject({ status: 200, body: { version_id } });
    expect((await app.call('GET', `/v1/guardrails/${slug}`)).body).toMatchObject({
      version_id,
      updated_by: null,
    });
    expect(app.changes).toHaveLength(told);
    expect((await app.audited()).at(-1)).toMatchObject({ action: 'guardrails.update', outcome: 'success' });
  });

  it('are refused with every mistake at once, each with its place', async () => {
    const { status, body } = await make({
      checks: [
        { id: 'default.regexMatch', parameters: { rule: '(?<=a)b', extra: 1 } },
        { id: 'nobody.knows' },
        { id: 'default.wordCount', parameters: { minWords: 5, maxWords: 2 } },
        { id: 'default.jsonSchema', parameters: { schema: { $ref: '#' } } },
      ],
      actions: { deny: 'yes' },
    });

    expect(status).toBe(400);
    for (const place of [
      'checks[0].parameters.rule',
      'checks[1]',
      'checks[2].parameters.maxWords',
      'checks[3].parameters.schema',
      'actions.deny',
    ])
      expect(body.error.message).toContain(`${place} `);
  });

  it("keep a webhook's secrets sealed: no response, audit record or row has them, and the gateway gets them", async () => {
    const secret = `canary-${randomUUID()}`;
    const checks = [
      CONTAINS,
      {
        id: 'default.webhook',
        parameters: {
          webhookURL: 'https://example.com/g',
          secret,
          headers: { authorization: `Bearer ${secret}` },
        },
      },
    ];
    const { body } = await make({ checks });
    const shown = (await app.call('GET', `${PATH}/${body.slug}`)).body;
    await app.call('PUT', `${PATH}/${body.slug}`, { body: { name: 'Renamed', checks: shown.checks } });

    const texts = [
      JSON.stringify(shown),
      JSON.stringify(await app.audited()),
      JSON.stringify(
        await app.dataSource.query("SELECT *, encode(sealed_secrets, 'escape') FROM guardrails"),
      ),
    ];
    for (const text of texts) expect(text).not.toContain(secret);
    expect(shown.checks[1].parameters).toMatchObject({ secret: '***', headers: { authorization: '***' } });
    expect((await found(body.slug)).spec.checks[1].parameters).toMatchObject({
      secret,
      headers: { authorization: `Bearer ${secret}` },
    });
  });

  it('of another workspace or organization are not found, by users and by the gateway', async () => {
    const { body } = await make();
    const { key } = await app.workspaceKey(undefined, workspaceTwo);

    for (const [method, path] of [
      ['GET', body.slug],
      ['PUT', body.slug],
      ['DELETE', body.id],
      ['GET', randomUUID()],
    ] as const)
      expect(
        await app.call(method, `${PATH}/${path}`, {
          key,
          body: method === 'PUT' ? { name: 'x' } : undefined,
        }),
      ).toMatchObject({
        status: 404,
        body: { error: { message: 'There is no such guardrail.' } },
      });
    expect(await found(body.slug, workspaceTwo)).toBeNull();
    expect((await found(body.slug)).id).toBe(body.id);
    expect((await found(body.id)).id).toBe(body.id);
  });

  it('of the organization serve every workspace, and need scopes of their own', async () => {
    const { body, status } = await make({
      workspace_id: undefined,
      organisation_id: app.first.organisation_id,
    });
    expect(status).toBe(200);

    expect((await found(body.slug, workspaceTwo)).id).toBe(body.id);
    const { key } = await app.workspaceKey(undefined, workspaceTwo);
    expect(
      (await make({ workspace_id: undefined, organisation_id: app.first.organisation_id }, key)).status,
    ).toBe(403);
    expect((await make({ workspace_id: undefined, organisation_id: randomUUID() })).status).toBe(404);
    expect((await app.call('GET', `${PATH}/${body.slug}`, { key })).status).toBe(404);
  });
});
