import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Price } from '../../common/contracts/price.js';
import { IngestedLog } from './ingested-log.entity.js';
import { ModelPrice } from '../model-configs/model-price.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { readRedactors } from '../../request-log/redaction/read-redactors.js';
import type { Redactor } from '../../request-log/redaction/redactor.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { costOf } from '../../providers/prices/cost.js';
import { isPrice } from '../../providers/prices/price.js';
import { PriceBook } from '../../providers/prices/price-book.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { checkRoom } from './inbox-room.js';
import { type IngestedCall, inboxRow } from './ingested-call.js';

/** A request that has no price yet. */
export type UnpricedCall = Omit<IngestedCall, 'costNanoUsd'> & {
  readonly reportedCostNanoUsd: number | null;
};

/**
 * Receives logs of requests made elsewhere. Acknowledged logs are committed to an inbox, from which the background process moves them to
 * the request log within seconds; a log that is sent again under the same id is stored once.
 */
@Injectable()
export class LogIngestionService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(ModelPrice) private readonly modelPrices: Repository<ModelPrice>,
    private readonly prices: PriceBook,
    private readonly audit: AuditTrail,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** All of them or none. Refuses with `log_inbox_full` when too many are waiting. */
  async take(caller: Principal, calls: readonly UnpricedCall[]): Promise<void> {
    // The log records these. An audit record for each would double it.
    this.audit.leaveOut();
    const keepsBodies = this.settings.logBodies !== 'off' && caller.policy?.keepsBodies !== false;
    if (calls.length === 0) return;
    const redactor = await this.redactorFor(caller);
    const findPrice = await this.pricesFor(caller.organizationId, calls);
    const rows = calls.map(({ reportedCostNanoUsd, ...call }) =>
      inboxRow(
        caller,
        { ...call, costNanoUsd: reportedCostNanoUsd ?? costOfCall(call, findPrice) },
        { keepsBodies, redactor },
      ),
    );
    await checkRoom(this.unitOfWork.manager, rows, this.settings.inboxLimitBytes);
    await this.unitOfWork.insertUnlessTaken(IngestedLog, rows);
  }

  /** Applied here because the inbox is a table as well. */
  private async redactorFor({ organizationId, workspaceId }: Principal): Promise<Redactor | null> {
    const { manager } = this.unitOfWork;
    const redactorOf = await readRedactors(
      (sql, parameters) => manager.query(sql, parameters),
      [organizationId],
    );
    return redactorOf(organizationId, workspaceId);
  }

  /** As the gateway charges: the organization's own price of the responding or the requested model, then the list price of either. */
  private async pricesFor(organizationId: string, calls: readonly UnpricedCall[]): Promise<PriceFinder> {
    const needsPrices = calls.some(
      (call) => call.reportedCostNanoUsd === null && call.usage && call.provider,
    );
    const agreed = needsPrices ? await this.modelPrices.findBy({ organizationId }) : [];
    const own = new Map(
      agreed
        .filter(({ price }) => isPrice(price))
        .map(({ providerId, model, price }) => [`${providerId}/${model}`, price]),
    );
    return (provider, models) =>
      firstOf(models, (model) => own.get(`${provider}/${model}`)) ??
      firstOf(models, (model) => this.prices.find(provider, model));
  }
}

/** The price of a provider's model, under the first of these names that has one. */
type PriceFinder = (provider: string, models: readonly string[]) => Price | null;

function firstOf(models: readonly string[], find: (model: string) => Price | null | undefined): Price | null {
  for (const model of models) {
    const price = find(model);
    if (price) return price;
  }
  return null;
}

/** Null if provider, model or usage are unknown: an unknown price is never zero. */
function costOfCall(
  {
    provider,
    usage,
    responseModel,
    model,
  }: Pick<UnpricedCall, 'provider' | 'usage' | 'responseModel' | 'model'>,
  findPrice: PriceFinder,
): number | null {
  if (provider === null || usage === null) return null;
  const price = findPrice(
    provider,
    [responseModel, model].filter((name) => name !== null),
  );
  return price && costOf(usage, price);
}
