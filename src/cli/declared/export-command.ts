import { stringify } from 'yaml';
import { say } from '../terminal.js';
import type { AdministrationClient, Json } from './administration-client.js';
import { connect, type ConnectOptions } from './connect.js';

/** `gatehouse export`: the organization as a file that `gatehouse apply` takes, without its secrets. Returns the exit code. */
export async function exportCommand(
  environment: NodeJS.ProcessEnv,
  options: ConnectOptions,
): Promise<number> {
  say(await exported(await connect(environment, options)));
  return 0;
}

async function exported(client: AdministrationClient): Promise<string> {
  const workspaces = await client.all('/v1/admin/workspaces');
  const places = placesOf(workspaces);
  const configs = await client.all('/v1/configs');
  const shown: Json[] = [];
  for (const { slug } of configs)
    shown.push((await client.send('GET', `/v1/configs/${String(slug)}`)).data as Json);
  const keys = await client.all('/v1/api-keys');
  const sharesName = sharing(workspaces, ['name']);
  const sharesKeyName = sharing(keys, ['name', 'type', 'workspace_id']);
  const document = {
    organization: without(await client.send('GET', '/v1/admin/organisation'), READ_ONLY),
    workspaces: workspaces.map((workspace) => {
      const { name, description, log_retention_days, body_retention_days, log_redaction } = workspace;
      const id = sharesName(workspace) ? workspace.id : null;
      return filled({ name, id, description, log_retention_days, body_retention_days, log_redaction });
    }),
    virtual_keys: (await client.all('/v1/virtual-keys')).map((key) => virtualKey(key, places)),
    configs: shown.map((config) => ({
      slug: config.slug,
      workspace: places.get(config.workspace_id),
      name: config.name,
      ...(config.is_default === 1 ? { is_default: true } : {}),
      ...(config.status === 'archived' ? { status: 'archived' } : {}),
      config: config.config,
    })),
    api_keys: keys.map((key) =>
      filled({
        name: key.name,
        id: sharesKeyName(key) ? key.id : null,
        type: key.type,
        workspace: key.workspace_id === null ? null : places.get(key.workspace_id),
        description: key.description,
        scopes: key.scopes,
      }),
    ),
  };
  return `${HEAD}${stringify(document).trimEnd()}`;
}

/** By which word each workspace is meant: its slug, and where another one is called so, which would come first, its id. */
function placesOf(workspaces: readonly Json[]): ReadonlyMap<unknown, unknown> {
  const called = new Map<unknown, unknown>();
  for (const { id, name } of workspaces) called.set(name, called.has(name) ? SEVERAL : id);
  return new Map(
    workspaces.map(({ id, slug }) => [id, (called.get(slug) ?? id) === id ? slug : id] as const),
  );
}

const SEVERAL = Symbol('several');

const HEAD = [
  '# Secrets are not in this file. "key" says where each is when the file is applied to a place that has it not.',
  '# Where several share a name, an id says which is meant: such an entry is for this organization alone.\n',
].join('\n');

/** What the administration shows and nobody sets. */
const READ_ONLY = ['object', 'id', 'created_at', 'last_updated_at', 'has_alert_webhook_secret'];

function virtualKey(key: Json, places: ReadonlyMap<unknown, unknown>): Json {
  const {
    slug,
    workspace_id,
    name,
    note,
    provider,
    custom_host,
    fields,
    model_pricing,
    on_client_disconnect,
    expires_at,
  } = key;
  const variable = `${String(slug).toUpperCase().replaceAll('-', '_')}_KEY`;
  const said = filled({ note, custom_host, model_pricing, on_client_disconnect, expires_at });
  const account = Object.keys(fields as Json).length > 0 ? { fields } : {};
  return {
    slug,
    workspace: places.get(workspace_id),
    name,
    provider,
    ...said,
    ...account,
    key: { from_env: variable },
  };
}

/** Tells of each thing whether others have all of this in common with it: then only its id says which is meant. */
function sharing(things: readonly Json[], names: readonly string[]): (thing: Json) => boolean {
  const identity = (thing: Json): string => JSON.stringify(names.map((name) => thing[name]));
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(identity(thing), (counts.get(identity(thing)) ?? 0) + 1);
  return (thing) => (counts.get(identity(thing)) ?? 0) > 1;
}

/** Without what is nothing. */
const filled = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const without = (fields: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
