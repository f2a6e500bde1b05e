import { LRUCache } from 'lru-cache';
import { canonicalModel } from '../../common/text/model-name.js';
import { PriceBook } from '../../gateway/ports.js';
import type { Price } from '../../providers/prices/price.js';
import { type PriceSchedule, scheduledPrice, type ScheduledPrice } from '../../providers/prices/schedule.js';
import { withUnitPrices } from '../../providers/prices/unit-prices/index.js';
import type { Provider } from '../../providers/provider.js';
import { providers } from '../../providers/catalog/registry.js';
import { scheduleOf } from './genai-prices.js';
import { PriceData } from './price-data.js';

/** Enough for every model of a busy gateway. A caller who invents model names only cycles the cache. */
const MAX_CACHED_MODELS = 4096;
/** No provider has a model name of this length, and the lookup would only cost time. */
const MAX_MODEL_LENGTH = 256;
const UNKNOWN: PriceSchedule = [];

/**
 * Prices from `PriceData`, and unit prices from our own table; nothing is fetched at run time. Prices in a provider's own row override the
 * data. The data takes about 3 MiB of heap and 35 ms at start.
 * https://github.com/pydantic/genai-prices
 */
export class GenaiPriceBook extends PriceBook {
  private readonly schedules = new LRUCache<string, PriceSchedule>({ max: MAX_CACHED_MODELS });
  private version = 0;

  constructor(private readonly data = new PriceData()) {
    super();
  }

  /** A lookup in the data takes up to 0.1 ms, so its result is cached, also when it is null. */
  find(providerId: string, model: string): Price | null {
    if (model.length > MAX_MODEL_LENGTH) return null;
    const { version } = this.data;
    if (version !== this.version) this.schedules.clear();
    this.version = version;
    const key = `${providerId} ${model}`;
    let schedule = this.schedules.get(key);
    if (schedule === undefined) {
      schedule = compile(this.data, providerId, model);
      if (schedule.length === 0) schedule = compile(this.data, providerId, canonicalModel(model, providerId));
      this.schedules.set(key, schedule);
    }
    return schedule.length === 0 ? null : scheduledPrice(schedule, Date.now());
  }
}

function compile(data: PriceData, providerId: string, model: string): PriceSchedule {
  const provider = providers.get(providerId);
  if (!provider) return UNKNOWN;
  const own = provider.prices?.get(model);
  if (own) return [{ when: { kind: 'always' }, price: own }];
  const schedule = withUnitPrices(listed(data, provider, model), provider.id, model);
  return provider.leastAudioInputMs ? schedule.map((entry) => withLeast(entry, provider)) : schedule;
}

function listed(data: PriceData, { id, pricesId }: Provider, model: string): PriceSchedule {
  const found = pricesId === null ? null : data.find(pricesId ?? id, model);
  return found ? scheduleOf(found) : UNKNOWN;
}

function withLeast({ when, price }: ScheduledPrice, { leastAudioInputMs }: Provider): ScheduledPrice {
  const isHeard = price?.units?.audioInputHour !== undefined;
  return isHeard && leastAudioInputMs ? { when, price: { ...price, leastAudioInputMs } } : { when, price };
}
