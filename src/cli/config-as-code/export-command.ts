import { stringify } from 'yaml';
import type { JsonOption } from '../output.js';
import { complain, say } from '../terminal.js';
import {
  type AdministrationClient,
  type JsonRecord,
  AdministrationRefusal,
} from './administration-client.js';
import { completed } from './change.js';
import { connect, type ConnectOptions } from './connect.js';
import { limitsForFile } from './declared-limits.js';
import { INVITES, type ShownMembership, USERS } from './plan-users.js';
import { entryOf, hasMask, RESOURCES, SIGNED_TOKENS, thingsOf } from './resources.js';

export interface ExportOptions extends ConnectOptions, JsonOption {}

/** `gatehouse export`: the organization as a file for `gatehouse apply`, without its secrets. Returns the exit code. */
export async function exportCommand(environment: NodeJS.ProcessEnv, options: ExportOptions): Promise<number> {
  const client = await connect(environment, options);
  const { document, text, notice } = await exportDocument(client);
  say(options.json ? JSON.stringify(document) : text);
  complain(notice);
  return 0;
}

/** The file, and the things that it cannot hold. */
export async function exportDocument(
  client: AdministrationClient,
): Promise<{ readonly document: object; readonly text: string; readonly notice: string }> {
  const workspaces = sorted(await client.all('/v1/admin/workspaces'), 'name');
  const places = placesOf(workspaces);
  const configs = sorted(await client.all('/v1/configs'), 'slug');
  const shown: JsonRecord[] = [];
  for (const { slug } of configs)
    shown.push((await client.send('GET', `/v1/configs/${String(slug)}`)).data as JsonRecord);
  const keys = sorted(await client.all('/v1/api-keys'), 'name');
  const sharesName = sharing(workspaces, ['name']);
  const sharesKeyName = sharing(keys, ['name', 'type', 'workspace_id']);
  const resources = await exportedResources(client, places);
  const tokens = await exportedTokens(client);
  const document = {
    organization: without(await client.send('GET', '/v1/admin/organisation'), READ_ONLY),
    workspaces: workspaces.map((workspace) => {
      const { name, description, log_retention_days, body_retention_days, log_redaction } = workspace;
      const id = sharesName(workspace) ? workspace.id : null;
      const fields = { name, id, description, log_retention_days, body_retention_days, log_redaction };
      return { ...completed(fields), ...limitsForFile(workspace) };
    }),
    users: await exportedUsers(client, places),
    ...resources,
    virtual_keys: sorted(await client.all('/v1/virtual-keys'), 'slug').map((key) => virtualKey(key, places)),
    configs: shown.map((config) => ({
      slug: config.slug,
      workspace: places.get(config.workspace_id),
      name: config.name,
      ...(config.is_default === 1 ? { is_default: true } : {}),
      ...(config.status === 'archived' ? { status: 'archived' } : {}),
      config: config.config,
    })),
    ...(tokens?.jwks_uri ? { signed_tokens: tokens } : {}),
    api_keys: keys.map((key) => ({
      ...completed({
        name: key.name,
        id: sharesKeyName(key) ? key.id : null,
        type: key.type,
        workspace: key.workspace_id === null ? null : places.get(key.workspace_id),
        description: key.description,
        scopes: key.scopes,
      }),
      ...limitsForFile(key),
    })),
  };
  const notice = noticeOf(furtherOf(document, tokens));
  return { document, text: `${HEAD}${stringify(document).trimEnd()}`, notice };
}

/** What is missing from this file in particular. */
const furtherOf = (document: object, tokens: JsonRecord | null): string[] => [
  ...(tokens && !tokens.jwks_uri ? ['the signed-token settings, whose keys were set without a URL'] : []),
  ...(hasMask(document) ? ['secrets in guardrails and integrations, which are shown as "***"'] : []),
];

/** The non-empty sections of a table. */
async function exportedResources(
  client: AdministrationClient,
  places: DocumentPositions,
): Promise<JsonRecord> {
  const sections: Record<string, JsonRecord[]> = {};
  for (const resource of RESOURCES) {
    const things = (await thingsOf(client, resource)).filter(
      (thing) => thing.status !== 'archived' && resource.identity.every((field) => isGiven(thing, field)),
    );
    const { secret, section } = resource;
    if (things.length === 0) continue;
    sections[section] = sorted(things, resource.identity[0] ?? 'slug').map((thing) => {
      const { [resource.identity[0] ?? '']: first, ...rest } = completed(entryOf(resource, thing));
      const variable = variableOf(String(thing.slug ?? thing.name), secret?.field ?? '');
      return {
        [resource.identity[0] ?? '']: first,
        ...(thing.workspace_id ? { workspace: places.get(thing.workspace_id) } : {}),
        ...rest,
        ...(secret && thing[secret.shownAs] ? { [secret.field]: { from_env: variable } } : {}),
      };
    });
  }
  return sections;
}

/** Policies without a name cannot be told apart. */
const isGiven = (thing: JsonRecord, field: string): boolean => field === 'workspace' || thing[field] != null;

/** Users and open invites with their roles and memberships. Another instance invites the users it does not have. */
async function exportedUsers(client: AdministrationClient, places: DocumentPositions): Promise<JsonRecord[]> {
  const users = (await client.all(USERS)).filter(
    ({ role, status }) => role !== 'owner' && status === 'active',
  );
  const invites = await client.all(`${INVITES}?status=pending`);
  return sorted([...users, ...invites], 'email').map(({ email, role, workspaces }) => {
    const memberships = (workspaces as readonly ShownMembership[]).map((membership) => ({
      workspace: places.get(membership.id),
      role: membership.role,
    }));
    return {
      email,
      role,
      ...(memberships.length > 0 ? { workspaces: sorted(memberships, 'workspace') } : {}),
    };
  });
}

async function exportedTokens(client: AdministrationClient): Promise<JsonRecord | null> {
  try {
    const shown = await client.send('GET', SIGNED_TOKENS.path);
    return completed(Object.fromEntries(SIGNED_TOKENS.fields.map((field) => [field, shown[field]])));
  } catch (error) {
    if (error instanceof AdministrationRefusal && error.status === 404) return null;
    throw error;
  }
}

const LEFT_OUT = [
  'secrets: virtual keys, integrations and audit destinations name an environment variable for each',
  'API keys themselves: "api_keys" describes existing ones',
  'passwords and other sign-in methods of users, owners, deactivated users, and keys that invites promise',
  'defaults, expiry and alert addresses of API keys, and defaults of workspaces',
  'workspaces and models of integrations, and policies without a name',
  'records: request logs, analytics, feedback and the audit log',
];

const noticeOf = (further: readonly string[]): string =>
  ['# Not in this file:', ...[...LEFT_OUT, ...further].map((each) => `#   - ${each}`)].join('\n');

/** The same order for every organization, whatever the creation times. */
const sorted = (things: readonly JsonRecord[], field: string): readonly JsonRecord[] =>
  [...things].sort((one, other) => String(one[field]).localeCompare(String(other[field]), 'en'));

type DocumentPositions = ReadonlyMap<unknown, unknown>;

/** How to refer to each workspace: by name, which another organization can use too, or by id if others share the name. */
function placesOf(workspaces: readonly JsonRecord[]): DocumentPositions {
  const sharesName = sharing(workspaces, ['name']);
  return new Map(workspaces.map((each) => [each.id, sharesName(each) ? each.id : each.name] as const));
}

const HEAD = [
  '# Secrets are not in this file. "key" names where "gatehouse apply" reads the secret of an entry that it creates.',
  '# An entry has an id only if others share its name. Such an entry applies to this organization only.\n',
].join('\n');

/** Read-only fields of the administration. */
const READ_ONLY = ['object', 'id', 'created_at', 'last_updated_at', 'has_alert_webhook_secret'];

function virtualKey(key: JsonRecord, places: DocumentPositions): JsonRecord {
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
    unsupported_parameters,
    expires_at,
  } = key;
  const said = completed({
    note,
    custom_host,
    model_pricing,
    on_client_disconnect,
    unsupported_parameters,
    expires_at,
  });
  const account = Object.keys(fields as JsonRecord).length > 0 ? { fields } : {};
  return {
    slug,
    workspace: places.get(workspace_id),
    name,
    provider,
    ...said,
    ...account,
    ...limitsForFile(key),
    key: { from_env: variableOf(String(slug), 'key') },
  };
}

/** `OPENAI_PROD_KEY` */
const variableOf = (name: string, field: string): string =>
  `${name}_${field}`.toUpperCase().replaceAll(/\W/g, '_');

/** Marks resources that share these values with others: only their id identifies them. */
function sharing(things: readonly JsonRecord[], names: readonly string[]): (thing: JsonRecord) => boolean {
  const identity = (thing: JsonRecord): string => JSON.stringify(names.map((name) => thing[name]));
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(identity(thing), (counts.get(identity(thing)) ?? 0) + 1);
  return (thing) => (counts.get(identity(thing)) ?? 0) > 1;
}

const without = (fields: JsonRecord, names: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
