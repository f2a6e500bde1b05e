import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { type Price, tokenPriceOf } from '../../common/contracts/price.js';
import type { TokenPrices } from '../../routing-config/explain.js';
import { IntegrationModel } from '../integrations/integration-model.entity.js';
import { Integration } from '../integrations/integration.entity.js';
import { ModelPrice } from '../model-configs/model-price.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { PriceBook } from '../../providers/prices/price-book.js';
import type { ConfigScope } from './config-checker.service.js';

/** The pricing fields of a stored credential. */
interface Account {
  readonly providerId: string;
  readonly key: VirtualKey;
}

/** Token prices of a workspace: its own prices before list prices, as requests are charged. */
@Injectable()
export class TokenPricesService {
  constructor(
    @InjectRepository(ModelPrice) private readonly modelPrices: Repository<ModelPrice>,
    @InjectRepository(IntegrationModel) private readonly integrationModels: Repository<IntegrationModel>,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    @InjectRepository(Integration) private readonly integrations: Repository<Integration>,
    private readonly book: PriceBook,
  ) {}

  /** Loads the agreed prices of the virtual keys with these slugs, so that they are available synchronously. */
  async of({ organizationId, workspaceId }: ConfigScope, slugs: readonly string[]): Promise<TokenPrices> {
    const accounts = await this.accounts({ organizationId, workspaceId }, slugs);
    const general = await this.modelPrices.findBy({ organizationId });
    const integrations = [...accounts.values()].flatMap(({ key }) => key.integrationId ?? []);
    const shared =
      integrations.length === 0
        ? []
        : await this.integrationModels.findBy({ integrationId: In(integrations) });
    const agreed = ({ key, providerId }: Account, model: string): Price | null =>
      key.prices?.[model] ??
      shared.find(({ integrationId, slug }) => integrationId === key.integrationId && slug === model)
        ?.price ??
      general.find((own) => own.providerId === providerId && own.model === model)?.price ??
      null;
    return ({ virtual_key, provider, model }) => {
      const account = virtual_key === null ? null : accounts.get(virtual_key);
      const providerId = account?.providerId ?? provider;
      if (model === null || providerId == null) return null;
      const price = (account && agreed(account, model)) ?? this.book.find(providerId, model);
      return price && tokenPriceOf(price);
    };
  }

  private async accounts(
    { organizationId, workspaceId }: ConfigScope,
    slugs: readonly string[],
  ): Promise<ReadonlyMap<string, Account>> {
    if (workspaceId === null || slugs.length === 0) return new Map();
    const where = { organizationId, workspaceId, slug: In([...new Set(slugs)]) };
    const keys = await this.virtualKeys.findBy(where);
    const ids = keys.flatMap(({ integrationId }) => integrationId ?? []);
    const integrations =
      ids.length === 0 ? [] : await this.integrations.findBy({ organizationId, id: In(ids) });
    const providers = new Map(integrations.map(({ id, providerId }) => [id, providerId]));
    return new Map(
      keys.map((key) => [
        key.slug,
        { key, providerId: providers.get(key.integrationId ?? '') ?? key.providerId },
      ]),
    );
  }
}
