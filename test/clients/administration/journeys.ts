import createClient from 'openapi-fetch';
// Made from the service's own document when the test runs; see administration.clients-spec.ts.
import type { paths } from './generated/schema.js';

/** Where the service is, and what this run calls its things. */
export interface Place {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly unique: string;
}

type Client = ReturnType<typeof createClient<paths>>;
type Journey = (client: Client, unique: string) => Promise<readonly unknown[]>;

/** The answer, or the refusal as an error: its type is the document's, too. */
function got<Data>({
  data,
  error,
}: {
  data?: Data;
  error?: { error: { code: string; message: string } };
}): Data {
  if (data === undefined) throw new Error(`${String(error?.error.code)}: ${String(error?.error.message)}`);
  return data;
}

const workspaceWithKey: Journey = async (client, unique) => {
  const name = `generated-${unique}`;
  const workspace = got(await client.POST('/v1/admin/workspaces', { body: { name } }));
  const path = { workspaceId: workspace.id };
  got(
    await client.PUT('/v1/admin/workspaces/{workspaceId}', {
      params: { path },
      body: { description: 'Typed' },
    }),
  );
  const key = got(
    await client.POST('/v1/api-keys/workspace/service', {
      body: { name, workspace_id: workspace.slug, scopes: ['logs.view'] },
    }),
  );
  const read = got(await client.GET('/v1/api-keys/{id}', { params: { path: { id: key.id } } }));
  const rotated = got(
    await client.POST('/v1/api-keys/{id}/rotate', {
      params: { path: { id: key.id } },
      body: { key_transition_period_ms: 0 },
    }),
  );
  const listed = got(
    await client.GET('/v1/api-keys', { params: { query: { workspace_id: workspace.id, page_size: 10 } } }),
  );
  got(await client.DELETE('/v1/api-keys/{id}', { params: { path: { id: key.id } } }));
  got(await client.DELETE('/v1/admin/workspaces/{workspaceId}', { params: { path }, body: { name } }));
  const { response, error } = await client.GET('/v1/admin/workspaces/{workspaceId}', { params: { path } });
  return [
    read.workspace_id === workspace.id,
    rotated.key !== key.key,
    listed.total,
    response.status,
    error?.error.code,
  ];
};

const credential: Journey = async (client, unique) => {
  const slug = `generated-${unique}`;
  const params = { path: { slug } };
  got(
    await client.POST('/v1/virtual-keys', {
      body: { name: 'Typed', slug, provider: 'openai', key: `sk-${unique}`, workspace_id: 'ws-default' },
    }),
  );
  got(await client.PUT('/v1/virtual-keys/{slug}', { params, body: { note: 'Typed' } }));
  const read = got(await client.GET('/v1/virtual-keys/{slug}', { params }));
  got(await client.DELETE('/v1/virtual-keys/{slug}', { params }));
  return [
    read.slug === slug,
    read.note,
    (await client.GET('/v1/virtual-keys/{slug}', { params })).response.status,
  ];
};

const config: Journey = async (client, unique) => {
  const made = got(
    await client.POST('/v1/configs', {
      body: { name: `generated ${unique}`, config: { retry: { attempts: 2 } }, workspace_id: 'ws-default' },
    }),
  );
  const params = { path: { slug: made.data.slug ?? '' } };
  got(await client.PUT('/v1/configs/{slug}', { params, body: { config: { retry: { attempts: 3 } } } }));
  const versions = got(await client.GET('/v1/configs/{slug}/versions', { params }));
  got(
    await client.POST('/v1/configs/{slug}/rollback', {
      params,
      body: { version_id: made.data.version_id ?? '' },
    }),
  );
  const read = got(await client.GET('/v1/configs/{slug}', { params }));
  got(await client.DELETE('/v1/configs/{slug}', { params }));
  return [versions.data.length, read.data.config];
};

const invitation: Journey = async (client, unique) => {
  const invite = got(
    await client.POST('/v1/admin/users/invites', {
      body: {
        email: `${unique}@example.com`,
        role: 'member',
        workspaces: [{ id: 'ws-default', role: 'member' }],
      },
    }),
  );
  const params = { path: { inviteId: invite.id } };
  const read = got(await client.GET('/v1/admin/users/invites/{inviteId}', { params }));
  got(await client.DELETE('/v1/admin/users/invites/{inviteId}', { params, body: {} }));
  return [read.status, got(await client.GET('/v1/admin/users/invites/{inviteId}', { params })).status];
};

/** What is wrong of a request is found before it is sent. */
export async function mistakes(client: Client): Promise<void> {
  // @ts-expect-error: a workspace has a name.
  await client.POST('/v1/admin/workspaces', { body: {} });
  // @ts-expect-error: there is no such path.
  await client.GET('/v1/nothing');
  const params = { path: { userId: 'x' } };
  // @ts-expect-error: nobody is made an owner.
  await client.PUT('/v1/admin/users/{userId}', { params, body: { role: 'owner' } });
}

/** Performs every journey and tells what came of each. */
export async function travel({
  baseUrl,
  adminKey,
  unique,
}: Place): Promise<Record<string, readonly unknown[]>> {
  const client = createClient<paths>({ baseUrl, headers: { 'x-gateway-api-key': adminKey } });
  const results: Record<string, readonly unknown[]> = {};
  for (const [name, journey] of Object.entries({ workspaceWithKey, credential, config, invitation }))
    results[name] = await journey(client, unique);
  return results;
}
