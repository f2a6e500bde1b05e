import { randomBytes } from 'node:crypto';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

/** What the unmodified client does with credentials, beside configs and people, which have files of their own. */
let world: World;
let client: Portkey;
let workspaceId: string;

const unique = (): string => randomBytes(5).toString('hex');
const absent = { status: 404 };

beforeAll(async () => {
  world = await World.create('sdk');
  const { admin_api_key: apiKey, workspace_id } = world.service.bootstrap;
  workspaceId = workspace_id;
  client = new Portkey({ apiKey, baseURL: `${world.service.baseUrl}/v1` });
});
afterAll(async () => {
  await world.checkCanaries();
  await world.close();
});

describe('portkey-ai, unmodified, performs every method of', () => {
  it.each([
    ['workspace', 'service', ['logs.view']],
    ['workspace', 'user', ['logs.view']],
    ['organisation', 'service', ['logs.view']],
  ])('API keys (%s/%s)', async (type, subType, scopes) => {
    const { apiKeys } = client;
    const name = `sdk-${unique()}`;
    const place = type === 'workspace' ? { workspace_id: workspaceId } : {};
    const made = await apiKeys.create({ type, 'sub-type': subType, name, scopes, ...place });
    const { id, key } = made as { id: string; key: string };
    world.canaries.watch(name, key);

    expect(await apiKeys.retrieve({ id })).toMatchObject({ id, name, scopes, type: `${type}-${subType}` });
    await apiKeys.update({ id, name: `${name}-2`, description: 'By the SDK' });
    expect(await apiKeys.retrieve({ id })).toMatchObject({ name: `${name}-2`, description: 'By the SDK' });
    const listed = await apiKeys.list({ ...place, page_size: 100, current_page: 0 });
    expect(listed.data).toContainEqual(expect.objectContaining({ id }));
    await apiKeys.delete({ id });
    await expect(apiKeys.retrieve({ id })).rejects.toMatchObject(absent);
  });

  it('virtual keys', async () => {
    const { virtualKeys } = client;
    const secret = world.canaries.make('sdk-virtual-key');
    const name = `sdk-${unique()}`;
    const made = await virtualKeys.create({
      name,
      provider: 'openai',
      key: secret,
      note: 'By the SDK',
      workspace_id: workspaceId,
    });
    const slug = (made as unknown as { data: { slug: string } }).data.slug;

    expect(await virtualKeys.retrieve({ slug })).toMatchObject({ slug, name, note: 'By the SDK' });
    await virtualKeys.update({ slug, name: `${name}-2` });
    const listed = await virtualKeys.list();
    expect(listed.data).toContainEqual(expect.objectContaining({ slug, name: `${name}-2` }));
    await virtualKeys.delete({ slug });
    await expect(virtualKeys.retrieve({ slug })).rejects.toMatchObject(absent);
  });

  it('integrations, their models and workspaces, and providers', async () => {
    const { integrations, providers } = client;
    const slug = `sdk-${unique()}`;
    const key = world.canaries.make('sdk-integration');
    expect(
      await integrations.create({ name: 'SDK', slug, ai_provider_id: 'openai', key, description: 'Ours' }),
    ).toMatchObject({ slug });
    await integrations.update({ slug, name: 'SDK, renamed' });
    expect(await integrations.retrieve({ slug })).toMatchObject({ slug, name: 'SDK, renamed' });
    const listed = await integrations.list({ type: 'organisation', page_size: 100, current_page: 0 });
    expect(listed.data).toContainEqual(expect.objectContaining({ slug }));

    await integrations.models.update({ slug, models: [{ slug: 'gpt-4o', enabled: false }] });
    expect((await integrations.models.list({ slug })).models).toContainEqual(
      expect.objectContaining({ slug: 'gpt-4o', enabled: false }),
    );
    await integrations.models.delete({ slug, slugs: 'gpt-4o' });
    await integrations.workspaces.update({
      slug,
      workspaces: [{ id: workspaceId, enabled: true }],
      global_workspace_access: { enabled: false },
      override_existing_workspaces_access: true,
    });
    expect((await integrations.workspaces.list({ slug })).workspaces).toMatchObject([
      { id: workspaceId, enabled: true },
    ]);

    const provider = `sdk-p-${unique()}`;
    const place = { slug: provider, workspace_id: workspaceId };
    await providers.create({ name: 'Provider', integration_id: slug, ...place });
    await providers.update({ ...place, name: 'Provider, renamed', note: 'By the SDK' });
    expect(await providers.retrieve(place)).toMatchObject({ slug: provider, name: 'Provider, renamed' });
    const known = await providers.list({ workspace_id: workspaceId, page_size: 100, current_page: 0 });
    expect(known.data).toContainEqual(expect.objectContaining({ slug: provider }));
    await providers.delete(place);
    await expect(providers.retrieve(place)).rejects.toMatchObject(absent);
    await integrations.delete({ slug });
    await expect(integrations.retrieve({ slug })).rejects.toMatchObject(absent);
  });

  it('feedback', async () => {
    const { workspace_api_key: apiKey } = world.service.bootstrap;
    const { feedback } = new Portkey({ apiKey, baseURL: `${world.service.baseUrl}/v1` });
    const given = await feedback.create({ traceID: `sdk-${unique()}`, value: 1 });
    const [feedbackID] = (given as unknown as { feedback_ids: [string] }).feedback_ids;

    expect(await feedback.update({ feedbackID, value: 5 })).toMatchObject({
      status: 'success',
      feedback_ids: [feedbackID],
    });
  });

  it('guardrails', async () => {
    const { guardrails } = client;
    const checks = [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }];
    const actions = {
      deny: true,
      async: false,
      on_success: { feedback: { value: 5, weight: 1, metadata: '' } },
      on_fail: { feedback: { value: -5, weight: 1, metadata: '' } },
    };
    const made = await guardrails.create({ name: 'SDK', workspace_id: workspaceId, checks, actions });
    const guardrail_id = made.id;

    expect(await guardrails.retrieve({ guardrail_id })).toMatchObject({ name: 'SDK', checks });
    await guardrails.update({ guardrail_id, name: 'SDK, renamed' });
    const listed = await guardrails.list({ workspace_id: workspaceId, page_size: 100, current_page: 0 });
    expect(listed.data).toContainEqual(expect.objectContaining({ id: guardrail_id, name: 'SDK, renamed' }));
    await guardrails.delete({ guardrail_id });
    await expect(guardrails.retrieve({ guardrail_id })).rejects.toMatchObject(absent);
  });
});
