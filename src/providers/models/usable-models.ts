import { providers } from '../registry.js';
import { type ModelEntry, modelEntry } from './model-entry.js';

/** Either the only models that may be used, or all but these. */
export interface ModelRule {
  readonly names: ReadonlySet<string>;
  readonly areAllowed: boolean;
}

/** A stored credential, by which models can be named: `@slug/model`. */
export interface ModelKey {
  readonly slug: string;
  readonly providerId: string;
  /** Absent when every model may be used. */
  readonly models?: ModelRule;
}

/** What an organization allows; null for everything. */
export interface ModelPolicy {
  readonly providers: ReadonlySet<string> | null;
  readonly models: ReadonlySet<string> | null;
}

/** The models of the catalogue that a policy allows. */
export function allowedModels(
  models: readonly ModelEntry[],
  policy: ModelPolicy | null,
): readonly ModelEntry[] {
  return policy ? models.filter(({ provider, id }) => isAllowed(policy, provider, id)) : models;
}

/**
 * The models that can be named by stored credentials, each by the name that chooses the credential, too. One that an
 * integration names and the catalogue does not know is told without a price.
 */
export function usableModels(
  models: readonly ModelEntry[],
  keys: readonly ModelKey[],
  policy: ModelPolicy | null,
): readonly ModelEntry[] {
  return keys.flatMap((key) =>
    modelsOf(
      key,
      models.filter(({ provider }) => provider === key.providerId),
    )
      .filter(({ provider, id }) => policy === null || isAllowed(policy, provider, id))
      .map((model) => ({ ...model, id: `@${key.slug}/${model.id}` })),
  );
}

function modelsOf(
  { providerId, models: rule }: ModelKey,
  listed: readonly ModelEntry[],
): readonly ModelEntry[] {
  if (!rule) return listed;
  const known = listed.filter(({ id }) => rule.names.has(id) === rule.areAllowed);
  const provider = providers.get(providerId);
  if (!rule.areAllowed || !provider) return known;
  const names = new Set(known.map(({ id }) => id));
  const others = [...rule.names].filter((name) => !names.has(name)).sort();
  return [...known, ...others.map((name) => modelEntry(name, provider, null))];
}

const isAllowed = ({ providers: allowed, models }: ModelPolicy, provider: string, id: string): boolean =>
  (allowed?.has(provider) ?? true) && (models?.has(id) ?? true);
