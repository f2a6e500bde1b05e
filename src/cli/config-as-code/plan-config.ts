import { referencesIn } from '../../admin/configs/config-references.js';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import type { JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, specified, created } from './change.js';
import type { DeclaredConfig } from './document.js';
import type { PlanningContext } from './planning.js';
import { stepsOf } from './read-document.js';

/** The request that makes a saved config match the file, if needed. */
export async function planConfig(
  planning: PlanningContext,
  declared: DeclaredConfig,
  index: number,
): Promise<DeclaredChange[]> {
  const { slug, workspace, is_default: isDefault, status, name } = declared;
  const read = readRoutingConfig(declared.config);
  const config = read.mistakes ? undefined : read.config;
  await checkReferences(planning, declared, index);
  const what = `config "${slug}"`;
  const place = ['configs', index, 'workspace'];
  const current = await planning.find(`/v1/configs/${slug}`);
  const target = specified({
    name,
    config,
    status,
    is_default: isDefault === undefined ? undefined : Number(isDefault),
  });
  if (current) {
    const data = current.data as JsonRecord;
    await planning.checkStays(data, workspace, place);
    return updated({ what, path: `/v1/configs/${slug}` }, data, target);
  }
  if (status === 'archived')
    planning.note(['configs', index, 'status'], 'cannot be "archived" for a config that does not exist yet');
  const body = { slug, name: name ?? slug, ...specified({ config, is_default: target.is_default }) };
  return [await planning.madeIn(workspace, place, created(what, '/v1/configs', body))];
}

/** Virtual keys and providers that a config names, in the file or existing. */
async function checkReferences(
  planning: PlanningContext,
  { config }: DeclaredConfig,
  index: number,
): Promise<void> {
  const { virtualKeys, guardrails } = referencesIn(config);
  for (const { slug, path } of virtualKeys) {
    const name = encodeURIComponent(slug);
    if (
      planning.declares('virtual_keys', slug) ||
      planning.declares('providers', slug) ||
      (await planning.find(`/v1/virtual-keys/${name}`))
    )
      continue;
    if (await planning.find(`/v1/providers/${name}`)) continue;
    planning.note(
      ['configs', index, ...stepsOf(path)],
      `names "${slug}", which neither the file nor the organization has`,
    );
  }
  for (const { slug, path } of guardrails)
    if (
      !planning.declares('guardrails', slug) &&
      !(await planning.find(`/v1/guardrails/${encodeURIComponent(slug)}`))
    )
      planning.note(
        ['configs', index, ...stepsOf(path)],
        `names the guardrail "${slug}", which neither the file nor the organization has`,
      );
}
