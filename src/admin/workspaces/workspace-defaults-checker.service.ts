import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Tenant } from '../../auth/tenant.js';
import { mistakeDetails, mistakesInWords } from '../../routing-config/routing-config.js';
import { readCacheRules, slugOf } from '../../routing-config/cache-rules.js';
import type { CacheRules } from '../../routing-config/document.js';
import { type Mistake, DocumentPath } from '../../routing-config/document-path.js';
import type { GivenDefaults } from '../../routing-config/workspace-defaults.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { UsableConfig } from '../configs/usable-config.service.js';

/** Checks that the resources in a workspace's defaults exist. */
@Injectable()
export class WorkspaceDefaultsChecker {
  constructor(
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    private readonly guardrails: GuardrailReferences,
    private readonly configs: UsableConfig,
  ) {}

  /** With cache rules as stored. Refuses with `invalid_request`, which names the path of an invalid or missing value. */
  async read(tenant: Tenant, defaults: GivenDefaults | null | undefined): Promise<GivenDefaults> {
    if (!defaults) return {};
    await this.guardrails.check(tenant, defaults, 'defaults.');
    const { user_api_key_config: named, cache } = defaults;
    if (named != null) await this.configs.find(tenant, named, 'defaults.user_api_key_config');
    return cache == null ? defaults : { ...defaults, cache: await this.cache(tenant, cache) };
  }

  private async cache(tenant: Tenant, defaults: unknown): Promise<CacheRules> {
    const mistakes: Mistake[] = [];
    const place = DocumentPath.root(mistakes, 'defaults.cache');
    const rules = readCacheRules(defaults, place);
    if (rules?.mode === 'semantic' && !rules.embedding)
      place
        .at('embedding')
        .refuse('is missing: it names the virtual key and the model that compute embeddings');
    const slug = rules?.embedding?.virtual_key;
    if (typeof slug === 'string' && !(await this.hasVirtualKey(tenant, slugOf(slug))))
      place
        .at('embedding')
        .at('virtual_key')
        .refuse(`names the virtual key "${slugOf(slug).slice(0, 64)}", which does not exist here`);
    if (rules && mistakes.length === 0) return rules;
    throw new AppError('invalid_request', mistakeDetails(mistakes, `${mistakesInWords(mistakes)}.`));
  }

  private hasVirtualKey(tenant: Tenant, slug: string): Promise<boolean> {
    return slug.includes('\0') ? Promise.resolve(false) : this.virtualKeys.existsBy({ ...tenant, slug });
  }
}
