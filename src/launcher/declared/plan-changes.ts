import { referencesIn } from '../../admin/configs/config-references.js';
import { readRoutingConfig } from '../../common/contracts/routing-config.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { type AdministrationClient, type Json, Refused } from './administration-client.js';
import { type Change, differing, given } from './change.js';
import type {
  Declared,
  DeclaredApiKey,
  DeclaredConfig,
  DeclaredVirtualKey,
  SecretSource,
} from './document.js';
import { type FileMistake, type ReadDocument, stepsOf } from './read-document.js';

/** Gives a secret, or null where it is not there. */
export type SecretReader = (source: SecretSource) => Promise<string | null>;

/**
 * Compares what a file says with what there is, and answers the requests that make the one of the other, in the order in
 * which they can be made. Fails with every mistake that shows by now, before anything is changed.
 */
export async function planChanges(
  client: AdministrationClient,
  document: ReadDocument,
  readSecret: SecretReader,
): Promise<readonly Change[]> {
  const planner = new Planner(client, document.declared, readSecret);
  const changes = await planner.plan();
  document.refuse(planner.mistakes);
  return changes;
}

class Planner {
  readonly mistakes: FileMistake[] = [];
  /** Workspaces of the file that there are, by name; null for those that are to be made. */
  private readonly workspaces = new Map<string, string | null>();

  constructor(
    private readonly client: AdministrationClient,
    private readonly declared: Declared,
    private readonly readSecret: SecretReader,
  ) {}

  async plan(): Promise<Change[]> {
    const { organization, virtual_keys: keys = [], configs = [], api_keys: apiKeys = [] } = this.declared;
    return [
      ...(organization ? await this.organization(organization) : []),
      ...(await this.planWorkspaces()),
      ...(await eachOf(keys, (key, index) => this.virtualKey(key, index))),
      ...(await eachOf(configs, (config, index) => this.config(config, index))),
      ...(apiKeys.length > 0 ? await this.apiKeys(apiKeys) : []),
    ];
  }

  private async organization(wanted: NonNullable<Declared['organization']>): Promise<Change[]> {
    const current = await this.client.send('GET', '/v1/admin/organisation');
    const { security_settings: switches } = wanted;
    // Switches that the file does not name stay as they are.
    const merged = switches && { ...(current.security_settings as Json | null), ...switches };
    const body = given({ ...wanted, ...(switches === undefined ? {} : { security_settings: merged }) });
    return changed({ what: 'organization', path: '/v1/admin/organisation' }, current, body);
  }

  private async planWorkspaces(): Promise<Change[]> {
    const { workspaces = [] } = this.declared;
    if (workspaces.length === 0) return [];
    const known = await this.client.all('/v1/admin/workspaces');
    return workspaces.flatMap(({ name, ...said }) => {
      const found = known.filter((workspace) => workspace.name === name);
      const [current] = found;
      this.workspaces.set(name, current ? String(current.id) : null);
      const what = `workspace "${name}"`;
      const wanted = given(said);
      if (current)
        return changed({ what, path: `/v1/admin/workspaces/${String(current.id)}` }, current, wanted);
      return [{ ...made(what, '/v1/admin/workspaces', { name, ...wanted }), makesWorkspace: name }];
    });
  }

  private async virtualKey(key: DeclaredVirtualKey, index: number): Promise<Change[]> {
    const { slug, workspace, key: source, custom_host: host, expires_at: end, ...rest } = key;
    const wanted = given({
      ...rest,
      custom_host: host == null ? host : canonicalUrl(host),
      expires_at: end == null ? end : canonicalMoment(end),
    });
    const what = `virtual key "${slug}"`;
    const current = await this.find(`/v1/virtual-keys/${slug}`);
    if (current) this.checkWorkspace(current, workspace, ['virtual_keys', index, 'workspace']);
    const isMoved =
      current !== null && ['provider', 'custom_host'].some((name) => isOther(current, wanted, name));
    const isNeeded = current === null || isMoved;
    const secret = isNeeded && source ? await this.secret(source, index) : undefined;
    if (current) return changed({ what, path: `/v1/virtual-keys/${slug}` }, current, wanted, { key: secret });
    const shown = { name: key.name ?? slug, ...wanted };
    return [this.madeIn(workspace, made(what, '/v1/virtual-keys', { slug, ...shown }, { key: secret }))];
  }

  private async config(declared: DeclaredConfig, index: number): Promise<Change[]> {
    const { slug, workspace, is_default: isDefault, status, name } = declared;
    const read = readRoutingConfig(declared.config);
    const config = read.mistakes ? undefined : read.config;
    await this.checkReferences(declared, index);
    const what = `config "${slug}"`;
    const current = await this.find(`/v1/configs/${slug}`);
    const wanted = given({
      name,
      config,
      status,
      is_default: isDefault === undefined ? undefined : Number(isDefault),
    });
    if (current) {
      const data = current.data as Json;
      this.checkWorkspace(data, workspace, ['configs', index, 'workspace']);
      return changed({ what, path: `/v1/configs/${slug}` }, data, wanted);
    }
    if (status === 'archived')
      this.mistakes.push({
        path: ['configs', index, 'status'],
        message: 'cannot be "archived" for a config that is not there yet',
      });
    const body = { slug, name: name ?? slug, ...given({ config, is_default: wanted.is_default }) };
    return [this.madeIn(workspace, made(what, '/v1/configs', body))];
  }

  private async apiKeys(declared: readonly DeclaredApiKey[]): Promise<Change[]> {
    const known = await this.client.all('/v1/api-keys');
    return declared.flatMap((key, index) => {
      const id = key.workspace === undefined ? undefined : this.idOf(key.workspace);
      const found = known.filter(
        (one) =>
          one.type === key.type && one.name === key.name && (id === undefined || one.workspace_id === id),
      );
      const [current] = found;
      if (!current || found.length > 1) {
        const reason = current
          ? `is the name of ${found.length} API keys`
          : 'is the name of no API key; make it first: its secret is shown once, to who makes it';
        this.mistakes.push({ path: ['api_keys', index, 'name'], message: reason });
        return [];
      }
      const sorted = (scopes: unknown): string[] => [...(scopes as string[])].sort();
      const wanted = given({ description: key.description, scopes: sorted(new Set(key.scopes)) });
      const path = `/v1/api-keys/${String(current.id)}`;
      return changed(
        { what: `API key "${key.name}"`, path },
        { ...current, scopes: sorted(current.scopes) },
        wanted,
      );
    });
  }

  /** Virtual keys and providers that a config names: in the file, or there already. */
  private async checkReferences({ config }: DeclaredConfig, index: number): Promise<void> {
    const declared = new Set((this.declared.virtual_keys ?? []).map(({ slug }) => slug));
    const { virtualKeys, guardrails } = referencesIn(config);
    for (const { slug, path } of virtualKeys) {
      if (declared.has(slug) || (await this.find(`/v1/virtual-keys/${encodeURIComponent(slug)}`))) continue;
      if (await this.find(`/v1/providers/${encodeURIComponent(slug)}`)) continue;
      this.mistakes.push({
        path: ['configs', index, ...stepsOf(path)],
        message: `names "${slug}", which neither the file nor the organization has`,
      });
    }
    for (const { slug, path } of guardrails)
      if (!(await this.find(`/v1/guardrails/${encodeURIComponent(slug)}`)))
        this.mistakes.push({
          path: ['configs', index, ...stepsOf(path)],
          message: `names the guardrail "${slug}", which the organization has not`,
        });
  }

  private async secret(source: SecretSource, index: number): Promise<string | undefined> {
    const value = await this.readSecret(source);
    if (value !== null) return value;
    const from =
      'from_env' in source
        ? `the variable ${source.from_env} is not set`
        : `the file ${source.from_file} cannot be read`;
    this.mistakes.push({ path: ['virtual_keys', index, 'key'], message: `cannot be had: ${from}` });
    return undefined;
  }

  private checkWorkspace(current: Json, workspace: string, path: FileMistake['path']): void {
    const id = this.idOf(workspace);
    if (id !== undefined && id !== current.workspace_id)
      this.mistakes.push({
        path,
        message: 'is not the workspace that it is in; nothing moves from one to another',
      });
  }

  /** Undefined for a slug, which only the administration knows. */
  private idOf(workspace: string): string | undefined {
    return this.workspaces.get(workspace) ?? (isUuid(workspace) ? workspace.toLowerCase() : undefined);
  }

  private madeIn(workspace: string, change: Change): Change {
    const id = this.workspaces.get(workspace);
    return {
      ...change,
      body: (idOf) => ({
        ...change.body(idOf),
        workspace_id: id === null ? idOf(workspace) : (id ?? workspace),
      }),
    };
  }

  /** Null where there is none. */
  private async find(path: string): Promise<Json | null> {
    try {
      return await this.client.send('GET', path);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    }
  }
}

/** One after the other: the administration is not to be overrun. */
async function eachOf<T>(
  items: readonly T[],
  plan: (item: T, index: number) => Promise<Change[]>,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [index, item] of items.entries()) changes.push(...(await plan(item, index)));
  return changes;
}

function made(what: string, path: string, shown: Json, hidden: Json = {}): Change {
  const body = { ...shown, ...given(hidden) };
  return { what, isNew: true, differences: differing({}, shown), method: 'POST', path, body: () => body };
}

/** Sends only what differs; what is hidden goes along with it. */
function changed(
  { what, path }: { readonly what: string; readonly path: string },
  current: Json,
  wanted: Json,
  hidden: Json = {},
): Change[] {
  const differences = differing(current, wanted);
  if (differences.length === 0) return [];
  const names = new Set(differences.map((difference) => difference.path.split('/')[1]));
  const body = Object.fromEntries(Object.entries(wanted).filter(([name]) => names.has(name)));
  return [
    { what, isNew: false, differences, method: 'PUT', path, body: () => ({ ...body, ...given(hidden) }) },
  ];
}

const isOther = (current: Json, wanted: Json, name: string): boolean =>
  name in wanted && (current[name] ?? null) !== (wanted[name] ?? null);

/** As the administration stores it. */
function canonicalUrl(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
}

function canonicalMoment(text: string): string {
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? text : new Date(moment).toISOString();
}
