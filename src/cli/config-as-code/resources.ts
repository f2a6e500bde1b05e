import type { AdministrationClient, JsonRecord } from './administration-client.js';
import type { SectionName } from './document.js';

/** Maps a section of the file to a resource of the administration. */
export interface Resource {
  readonly section: SectionName;
  /** Display name. */
  readonly what: string;
  readonly path: string;
  /** Fields that identify the resource of an entry; the first one is shown. */
  readonly identity: readonly string[];
  /** Fields that can only be set on creation. */
  readonly fixed: readonly string[];
  /** Fields that can change. */
  readonly changing: readonly string[];
  /** Names in the API where they differ from the file's. */
  readonly names?: Readonly<Record<string, string>>;
  /** The secret field, and the field that shows whether it is set. */
  readonly secret?: { readonly field: string; readonly shownAs: string };
  /** A field with the id of another resource, for which the file has the slug. */
  readonly refersTo?: { readonly field: string; readonly path: string };
  /** The list omits fields that the single resource has. */
  readonly hasDetail?: true;
  /** Without a workspace in the entry: shared by all workspaces of the organization. */
  readonly isShared?: true;
  /** Created and changed by the same PUT. */
  readonly isPut?: true;
}

const POLICY = ['name', 'workspace'];
const POLICY_CHANGES = ['conditions'];

/** In creation order: later ones may refer to earlier ones. */
export const RESOURCES: readonly Resource[] = [
  {
    section: 'guardrails',
    what: 'guardrail',
    path: '/v1/guardrails',
    identity: ['slug'],
    fixed: ['workspace'],
    changing: ['name', 'checks', 'actions'],
    hasDetail: true,
    isShared: true,
  },
  {
    section: 'integrations',
    what: 'integration',
    path: '/v1/integrations',
    identity: ['slug'],
    fixed: ['workspace', 'provider'],
    changing: ['name', 'description', 'configurations'],
    names: { provider: 'ai_provider_id' },
    secret: { field: 'key', shownAs: 'masked_key' },
    hasDetail: true,
  },
  {
    section: 'providers',
    what: 'provider',
    path: '/v1/providers',
    identity: ['slug'],
    fixed: ['workspace', 'integration'],
    changing: ['name', 'note', 'expires_at'],
    names: { integration: 'integration_id' },
    refersTo: { field: 'integration_id', path: '/v1/integrations' },
  },
  {
    section: 'model_prices',
    what: 'price of',
    path: '/v1/model-configs/pricing',
    identity: ['model', 'provider'],
    fixed: [],
    changing: ['pay_as_you_go'],
    isPut: true,
  },
  {
    section: 'usage_policies',
    what: 'usage policy',
    path: '/v1/policies/usage-limits',
    identity: POLICY,
    fixed: ['type', 'group_by'],
    changing: [...POLICY_CHANGES, 'credit_limit', 'alert_threshold', 'periodic_reset', 'periodic_reset_days'],
  },
  {
    section: 'rate_policies',
    what: 'rate policy',
    path: '/v1/policies/rate-limits',
    identity: POLICY,
    fixed: ['type', 'group_by'],
    changing: [...POLICY_CHANGES, 'unit', 'value', 'on_store_failure'],
  },
  {
    section: 'audit_destinations',
    what: 'audit destination',
    path: '/v1/audit-logs/destinations',
    identity: ['name'],
    fixed: [],
    changing: ['url', 'enabled', 'ca_certificate'],
    secret: { field: 'secret', shownAs: 'secret' },
  },
];

/** All resources of a kind as the administration shows them, with slugs for references. */
export async function thingsOf(
  client: AdministrationClient,
  resource: Resource,
): Promise<readonly JsonRecord[]> {
  const listed = await withSlugs(client, resource, await client.all(resource.path));
  if (!resource.hasDetail) return listed;
  const things: JsonRecord[] = [];
  for (const { slug } of listed) things.push(await client.send('GET', `${resource.path}/${String(slug)}`));
  return things;
}

async function withSlugs(
  client: AdministrationClient,
  { refersTo }: Resource,
  things: readonly JsonRecord[],
): Promise<readonly JsonRecord[]> {
  if (!refersTo || things.length === 0) return things;
  const slugs = new Map((await client.all(refersTo.path)).map(({ id, slug }) => [id, slug]));
  const { field } = refersTo;
  return things.map((thing) => ({ ...thing, [field]: slugs.get(thing[field]) ?? thing[field] }));
}

/** The fields of a resource that a file has, under the file's names; without the workspace. */
export function entryOf({ identity, fixed, changing, names = {} }: Resource, thing: JsonRecord): JsonRecord {
  const fields = [...identity, ...fixed, ...changing].filter((field) => field !== 'workspace');
  return Object.fromEntries(fields.map((field) => [field, thing[names[field] ?? field]]));
}

/** The path of the resource itself. */
export function resourcePath({ path, isPut }: Resource, thing: JsonRecord): string {
  if (!isPut) return `${path}/${String(thing.slug ?? thing.id)}`;
  return `${path}/${encodeURIComponent(String(thing.provider))}/${encodeURIComponent(String(thing.model))}`;
}

/** Shown by the administration in place of a secret within a field. */
export const MASKED_SECRET = '***';

export const hasMask = (value: unknown): boolean =>
  JSON.stringify(value ?? null).includes(`"${MASKED_SECRET}"`);

/** The settable fields of the signed token setup. */
export const SIGNED_TOKENS = {
  path: '/v1/admin/organisation/jwt',
  fields: [
    'issuers',
    'audiences',
    'jwks_uri',
    'algorithms',
    'token_types',
    'max_lifetime_seconds',
    'claims',
    'unknown_people',
    'role_mappings',
    'highest_organisation_role',
    'highest_workspace_role',
    'max_people',
  ],
} as const;
