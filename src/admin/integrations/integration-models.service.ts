import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { Price } from '../../common/contracts/price.js';
import { IntegrationModel } from './integration-model.entity.js';
import { Integration } from './integration.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { ModelCatalog } from '../../providers/models/model-catalog.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { priceOf, pricingConfigOf } from '../dto-fields/model-pricing.js';
import { IntegrationFinder, integrationScope } from './integration-finder.service.js';
import {
  IntegrationModelsDto,
  type ModelDto,
  MOST_MODELS,
  type UpdateModelsDto,
} from './integration-models.dto.js';

/** The models that an integration may be used for, and their prices. */
@Injectable()
export class IntegrationModelsService {
  constructor(
    @InjectRepository(IntegrationModel) private readonly integrationModels: Repository<IntegrationModel>,
    @InjectRepository(Integration) private readonly integrations: Repository<Integration>,
    private readonly finder: IntegrationFinder,
    private readonly catalog: ModelCatalog,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Those of the provider's catalogue and those that were added, by name. */
  async list(caller: Principal, named: string): Promise<IntegrationModelsDto> {
    const { id, providerId, allowsAllModels } = await this.finder.find(caller, named, 'read');
    const own = await this.integrationModels.findBy({ integrationId: id });
    const ownSlugs = new Set(own.map(({ slug }) => slug));
    const catalogued = this.catalog
      .all()
      .filter((model) => model.provider === providerId && !ownSlugs.has(model.id))
      .map((model) => ({
        slug: model.id,
        name: model.id,
        enabled: allowsAllModels,
        is_custom: false,
        is_finetune: false,
        base_model_slug: null,
      }));
    return IntegrationModelsDto.from(
      [...own.map(shown), ...catalogued].sort((a, b) => (a.slug < b.slug ? -1 : 1)),
    );
  }

  async update(caller: Principal, named: string, dto: UpdateModelsDto): Promise<void> {
    const integration = await this.finder.find(caller, named, 'update');
    if (dto.allow_all_models !== undefined)
      await this.integrations.update({ id: integration.id }, { allowsAllModels: dto.allow_all_models });
    await this.store(integration, dto.models ?? []);
    await this.changed(integration, {
      allow_all_models: dto.allow_all_models ?? null,
      models: dto.models ?? [],
    });
  }

  /** Deletes the settings of these models. */
  async remove(caller: Principal, named: string, slugs: readonly string[]): Promise<void> {
    const integration = await this.finder.find(caller, named, 'update');
    const { affected } = await this.integrationModels.delete({
      integrationId: integration.id,
      slug: In([...slugs]),
    });
    if (!affected) throw new AppError('not_found', { resource: 'model' });
    await this.changed(integration, { removed: slugs });
  }

  /** Omitted fields stay unchanged. */
  private async store(
    { id: integrationId, organizationId, providerId }: Integration,
    models: readonly ModelDto[],
  ) {
    const known = new Map(
      (await this.integrationModels.findBy({ integrationId })).map((model) => [model.slug, model]),
    );
    const catalogued = new Set(
      this.catalog.all().flatMap((model) => (model.provider === providerId ? [model.id] : [])),
    );
    for (const [index, model] of models.entries()) {
      const before = known.get(model.slug);
      known.set(model.slug, {
        integrationId,
        organizationId,
        ...changedModel(model, before, catalogued),
        price: priceAfter(model, before, index),
      });
    }
    if (known.size > MOST_MODELS)
      throw new AppError('invalid_request', {
        detail: `An integration can have settings for at most ${MOST_MODELS} models.`,
      });
    const slugs = new Set(models.map(({ slug }) => slug));
    await this.integrationModels.save([...known.values()].filter(({ slug }) => slugs.has(slug)));
  }

  private async changed({ id, workspaceId }: Integration, after: object): Promise<void> {
    this.audit.note({ action: integrationScope(workspaceId, 'update'), targetId: id, workspaceId, after });
    await this.changes.publish({ resource: 'integration', id });
  }
}

function changedModel(
  model: ModelDto,
  before: IntegrationModel | undefined,
  catalogued: ReadonlySet<string>,
) {
  return {
    slug: model.slug,
    isEnabled: model.enabled,
    isCustom: model.is_custom ?? before?.isCustom ?? !catalogued.has(model.slug),
    isFinetune: model.is_finetune ?? before?.isFinetune ?? false,
    baseModelSlug:
      model.base_model_slug === undefined ? (before?.baseModelSlug ?? null) : model.base_model_slug,
  };
}

function priceAfter(model: ModelDto, before: IntegrationModel | undefined, index: number): Price | null {
  if (model.pricing_config === undefined) return before?.price ?? null;
  return model.pricing_config && priceOf(model.pricing_config, `models.${index}.pricing_config`);
}

function shown({ slug, isEnabled, isCustom, isFinetune, baseModelSlug, price }: IntegrationModel) {
  return {
    slug,
    name: slug,
    enabled: isEnabled,
    is_custom: isCustom,
    is_finetune: isFinetune,
    base_model_slug: baseModelSlug,
    ...(price ? { pricing_config: pricingConfigOf(price) } : {}),
  };
}
