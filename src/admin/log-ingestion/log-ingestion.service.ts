import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Counter } from 'prom-client';
import type { EntityManager, Repository } from 'typeorm';
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
import { type IngestedCall, inboxRow } from './ingested-call.js';
import { AppError } from '../../common/errors/app-error.js';

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
    await checkInboxSpace(this.unitOfWork.manager, rows, this.settings.inboxLimitBytes);
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

/** Maximum number of waiting logs of one organization: small enough to be counted with every request. */
const MOST_ROWS = 20_000;

const refused = new Counter({
  name: 'gatehouse_log_inbox_refused_total',
  help: 'Requests with logs of calls made elsewhere that were refused, because too many wait for the background process.',
});

/** The sizes of stored bytes are known without reading them. */
const WAITING = `
  SELECT count(*)::int AS rows, coalesce(sum(bytes), 0)::float8 AS bytes FROM (
    SELECT octet_length(closed) + octet_length(request_body) + octet_length(response_body) AS bytes
    FROM ingested_logs WHERE organization_id = $1 LIMIT ${MOST_ROWS}
  ) AS waiting`;

/**
 * Refuses with `log_inbox_full` logs that exceed the limits together with those waiting in the same organization: while the background
 * process is unavailable, an unbounded inbox would fill the disk of the database. Concurrent requests may exceed it by one request each.
 */
async function checkInboxSpace(
  manager: EntityManager,
  rows: readonly IngestedLog[],
  limitBytes: number,
): Promise<void> {
  const [waiting] = await manager.query<{ rows: number; bytes: number }[]>(WAITING, [
    rows[0]?.organizationId,
  ]);
  if (!waiting) return;
  const coming = rows.reduce((sum, row) => sum + bytesOf(row), 0);
  if (waiting.rows + rows.length <= MOST_ROWS && waiting.bytes + coming <= limitBytes) return;
  refused.inc();
  throw new AppError('log_inbox_full', { detail: `${waiting.rows} logs, ${waiting.bytes} bytes` });
}

const bytesOf = ({ closed, requestBody, responseBody }: IngestedLog): number =>
  closed.length + requestBody.length + responseBody.length;
