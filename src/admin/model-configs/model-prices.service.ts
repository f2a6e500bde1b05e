import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ChangePublisher } from '../../common/changes/change.js';
import type { Price } from '../../common/contracts/price.js';
import { ModelPrice } from './model-price.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { PriceBook } from '../../providers/prices/price-book.js';
import { findProvider } from '../../providers/catalog/registry.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { ModelPriceDto } from './model-price.dto.js';

/** Identifies a price: organization, provider and model. */
export interface PricedModel {
  readonly organizationId: string;
  readonly providerId: string;
  readonly model: string;
}

const LONGEST_MODEL = 256;
/** Each cached virtual key holds all prices of its provider. */
const MOST_PRICES = 500;

/** List prices, and an organization's own prices. */
@Injectable()
export class ModelPricesService {
  constructor(
    @InjectRepository(ModelPrice) private readonly modelPrices: Repository<ModelPrice>,
    private readonly book: PriceBook,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Refuses with `not_found` when it is unknown. */
  listPrice(providerId: string, model: string): Price {
    const price = this.book.find(providerId, model);
    if (!price) throw new AppError('not_found', { resource: 'price' });
    return price;
  }

  /** By provider and model. */
  list(organizationId: string, { skip, take }: Page): Promise<[ModelPrice[], number]> {
    return this.modelPrices.findAndCount({
      where: { organizationId },
      order: { providerId: 'ASC', model: 'ASC' },
      skip,
      take,
    });
  }

  async set(priced: PricedModel, price: Price): Promise<void> {
    const { organizationId } = priced;
    findProvider(priced.providerId);
    if (priced.model.length > LONGEST_MODEL || priced.model.includes('\0'))
      throw new AppError('invalid_request', {
        detail: `A model has a name of at most ${LONGEST_MODEL} characters, without a NUL.`,
      });
    const before = await this.find(priced);
    if (!before && (await this.modelPrices.countBy({ organizationId })) >= MOST_PRICES)
      throw new AppError('conflict', {
        detail: `An organization can have at most ${MOST_PRICES} prices of its own. Delete one first.`,
      });
    await this.modelPrices.upsert({ ...priced, price, updatedAt: new Date() }, [
      'organizationId',
      'providerId',
      'model',
    ]);
    await this.changed(priced, before, await this.modelPrices.findOneByOrFail(where(priced)));
  }

  async remove(priced: PricedModel): Promise<void> {
    const before = await this.find(priced);
    if (!before) throw new AppError('not_found', { resource: 'price' });
    await this.modelPrices.delete(where(priced));
    await this.changed(priced, before, null);
  }

  private async find(priced: PricedModel): Promise<ModelPrice | null> {
    if (`${priced.providerId}${priced.model}`.includes('\0')) return null;
    return this.modelPrices.findOne({ where: where(priced), lock: { mode: 'pessimistic_write' } });
  }

  private async changed(
    { organizationId, providerId, model }: PricedModel,
    before: ModelPrice | null,
    after: ModelPrice | null,
  ): Promise<void> {
    this.audit.note({
      targetId: `${providerId}/${model}`,
      ...(before ? { before: ModelPriceDto.of(before) } : {}),
      ...(after ? { after: ModelPriceDto.of(after) } : {}),
    });
    await this.changes.publish({ resource: 'organization', id: organizationId });
  }
}

const where = ({ organizationId, providerId, model }: PricedModel) => ({ organizationId, providerId, model });
