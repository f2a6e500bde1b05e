import { Injectable } from '@nestjs/common';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import type { OrganizationPolicy, Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import type { ModelEntry } from '../../providers/models/model-entry.js';
import { ALL_MODELS, modelList } from '../../providers/models/model-list.js';
import { allowedModels, usableModels } from '../../providers/models/usable-models.js';
import { type UsableKey, UsableKeys } from '../ports.js';
import { ModelCatalog } from '../../providers/models/model-catalog.js';

/** Models that may be listed, and the response that lists them all. */
export interface UsableModels {
  readonly models: readonly ModelEntry[];
  /** As bytes, built once. */
  listed(): Buffer;
}

/** The result for a list of keys, valid as long as list, catalogue and policy are the same. */
interface CachedUsableModels extends UsableModels {
  readonly catalog: readonly ModelEntry[];
  readonly policy: OrganizationPolicy | null;
}

const NO_KEYS: readonly UsableKey[] = [];

/** Finds the models that a caller may use. */
@Injectable()
export class UsableModelsFinder {
  private readonly made = new WeakMap<readonly UsableKey[], CachedUsableModels>();

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly keys: UsableKeys,
  ) {}

  /**
   * The models of the virtual keys and providers within the caller's reach. If there are none, or if the request is for all models, those
   * of the catalogue, which a caller with provider keys of its own may use. The organization's policy applies to both. Rejects with
   * `auth_unavailable`.
   */
  find(caller: Principal, isOfAll: boolean): UsableModels | Promise<UsableModels> {
    const preparing = this.catalog.prepare();
    if (preparing) return preparing.then(() => this.find(caller, isOfAll));
    if (isOfAll) return this.modelsOf(NO_KEYS, caller);
    return mapMaybePromise(this.keys.find(reachOf(caller)), (keys) => this.modelsOf(keys, caller));
  }

  private modelsOf(keys: readonly UsableKey[], { policy }: Principal): UsableModels {
    const catalog = this.catalog.all();
    const usable = keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > Date.now());
    if (usable.length === 0 && !policy) return { models: catalog, listed: () => this.catalog.listed() };
    const made = this.made.get(keys);
    if (made && made.catalog === catalog && made.policy === policy && usable.length === keys.length)
      return made;
    const models = usable.length > 0 ? usableModels(catalog, usable, policy) : allowedModels(catalog, policy);
    const fresh = { models, listed: onceBytes(models), catalog, policy };
    if (keys.length > 0) this.made.set(keys, fresh);
    return fresh;
  }
}

function onceBytes(models: readonly ModelEntry[]): () => Buffer {
  let bytes: Buffer | null = null;
  return () => (bytes ??= Buffer.from(JSON.stringify(modelList(models, ALL_MODELS))));
}
