import { providers } from '../catalog/registry.js';
import { type ModelEntry, modelEntry } from './model-entry.js';

/** Either the only models that may be used, or all except these. */
export interface ModelRule {
  readonly names: ReadonlySet<string>;
  readonly areAllowed: boolean;
}

/** A stored credential that models can name: `@slug/model`. */
export interface ModelKey {
  readonly slug: string;
  readonly providerId: string;
  /** Absent when every model may be used. */
  readonly models?: ModelRule;
}

/** An organization's policy; null allows everything. */
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

/** Credentials beyond this number of models are left out: the response would exceed some ten megabytes. */
const MODELS_MAX = 20_000;

/**
 * The models of stored credentials, each also under the name that selects the credential. A model that an integration names and the
 * catalogue lacks is listed without a price. Credentials are added in order until the list is full.
 */
export function usableModels(
  models: readonly ModelEntry[],
  keys: readonly ModelKey[],
  policy: ModelPolicy | null,
): readonly ModelEntry[] {
  const listed = byProvider(models);
  const usable: ModelEntry[] = [];
  for (const key of keys) {
    const named = modelsOf(key, listed.get(key.providerId) ?? [])
      .filter(({ provider, id }) => policy === null || isAllowed(policy, provider, id))
      .map((model) => ({ ...model, id: `@${key.slug}/${model.id}` }));
    if (usable.length + named.length <= MODELS_MAX) usable.push(...named);
  }
  return usable;
}

function byProvider(models: readonly ModelEntry[]): ReadonlyMap<string, readonly ModelEntry[]> {
  const found = new Map<string, ModelEntry[]>();
  for (const model of models) {
    const known = found.get(model.provider);
    if (known) known.push(model);
    else found.set(model.provider, [model]);
  }
  return found;
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
