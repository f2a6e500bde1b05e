import { entityTagOf } from '../../admin/http/entity-tag.js';
import { providerOf } from '../../admin/credentials/destination-of-key.js';
import type { AdministrationClient, JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, specified, created } from './change.js';
import { limitsIn } from './declared-limits.js';
import type { DeclaredOrganization, DeclaredSignedTokens, DeclaredWorkspace } from './document.js';
import { planApiKeys } from './plan-api-keys.js';
import { planConfig } from './plan-config.js';
import { planUsers } from './plan-users.js';
import { planVirtualKey } from './plan-virtual-key.js';
import { planResource } from './plan-resource.js';
import { PlanningContext, type SecretReader } from './planning.js';
import type { ReadDocument } from './read-document.js';
import { RESOURCES, SIGNED_TOKENS } from './resources.js';

/**
 * Compares a file with the current state, and returns the requests that turn the state into the file's, in a feasible order. Throws
 * `WrongFile` before anything is changed, with every mistake that can be found by then: syntax, unresolved names, and violations of general
 * rules.
 */
export async function planChanges(
  client: AdministrationClient,
  document: ReadDocument,
  readSecret: SecretReader,
): Promise<readonly DeclaredChange[]> {
  const planning = new PlanningContext(client, document, readSecret);
  const { organization, signed_tokens: tokens, workspaces, virtual_keys: keys } = document.declared;
  const { configs, users, api_keys: apiKeys } = document.declared;
  const changes = [
    ...(await eachOf(workspaces, (workspace, index) => planWorkspace(planning, workspace, index))),
    ...(await eachOf(GUARDRAILS, (resource) => planResource(planning, resource))),
    ...(organization ? await planOrganization(planning, organization) : []),
    ...(await eachOf(OTHERS, (resource) => planResource(planning, resource))),
    ...(await eachOf(keys, (key, index) => planVirtualKey(planning, key, index))),
    ...(await eachOf(configs, (config, index) => planConfig(planning, config, index))),
    ...(tokens ? await planSignedTokens(planning, tokens) : []),
    ...(await planUsers(planning, users)),
    ...(await planApiKeys(planning, apiKeys)),
  ];
  document.refuse([...document.mistakes, ...planning.mistakes]);
  return changes;
}

/** The organization may refer to guardrails, so they come first. */
const GUARDRAILS = RESOURCES.filter(({ section }) => section === 'guardrails');
const OTHERS = RESOURCES.filter(({ section }) => section !== 'guardrails');

/** If anything differs, sends the complete setup, on condition that the compared state is still current. */
async function planSignedTokens(
  planning: PlanningContext,
  declared: DeclaredSignedTokens,
): Promise<DeclaredChange[]> {
  const what = 'signed tokens';
  const { path } = SIGNED_TOKENS;
  const current = await planning.find(path);
  if (!current) return [{ ...created(what, path, specified(declared)), method: 'PUT' }];
  const ifMatch = entityTagOf(current);
  return updated({ what, path }, current, specified(declared)).map((change) => ({
    ...change,
    ifMatch,
    body: () => specified(declared),
  }));
}

async function planOrganization(
  planning: PlanningContext,
  declared: DeclaredOrganization,
): Promise<DeclaredChange[]> {
  for (const [index, provider] of (declared.allowed_providers ?? []).entries())
    planning.judge(['organization', 'allowed_providers', index], () => providerOf(provider));
  const current = await planning.client.send('GET', '/v1/admin/organisation');
  const { security_settings: switches } = declared;
  // Switches that the file omits stay unchanged.
  const merged = switches && { ...(current.security_settings as JsonRecord | null), ...switches };
  const body = specified({ ...declared, ...(switches === undefined ? {} : { security_settings: merged }) });
  return updated({ what: 'organization', path: '/v1/admin/organisation' }, current, body);
}

async function planWorkspace(
  planning: PlanningContext,
  { name, id, ...fields }: DeclaredWorkspace,
  index: number,
): Promise<DeclaredChange[]> {
  const known = await planning.workspaces();
  const matches = known.filter(
    (one) => one.name === name && (id === undefined || one.id === id.toLowerCase()),
  );
  const [current] = matches;
  if (matches.length > 1) {
    const reason = `is the name of ${matches.length} workspaces; choose one with "id"`;
    planning.note(['workspaces', index, 'name'], reason);
    return [];
  }
  if (id !== undefined && !current) {
    planning.note(['workspaces', index, 'id'], `is not the id of a workspace called "${name}"`);
    return [];
  }
  planning.nameWorkspace(name, current ? String(current.id) : null);
  const what = `workspace "${name}"`;
  const declared = { ...specified(fields), ...limitsIn(fields) };
  if (current) {
    const path = `/v1/admin/workspaces/${String(current.id)}`;
    return updated({ what, path }, { ...current, ...limitsIn(current) }, declared);
  }
  return [{ ...created(what, '/v1/admin/workspaces', { name, ...declared }), makesWorkspace: name }];
}

/** Sequential, so as not to overload the administration. Skips invalid entries. */
async function eachOf<T>(
  items: readonly (T | undefined)[],
  plan: (item: T, index: number) => Promise<DeclaredChange[]>,
): Promise<DeclaredChange[]> {
  const changes: DeclaredChange[] = [];
  for (const [index, item] of items.entries())
    if (item !== undefined) changes.push(...(await plan(item, index)));
  return changes;
}
