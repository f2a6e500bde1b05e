import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { ModelCatalog } from '../../providers/models/model-catalog.js';
import { type ModelEntry, modelEntry, withPrice } from '../../providers/models/model-entry.js';
import { isRetired } from '../../providers/models/retired.js';
import { type PriceSchedule, scheduledPrice } from '../../providers/prices/schedule.js';
import { unitPricedModels, withUnitPrices } from '../../providers/prices/unit-prices/index.js';
import type { Provider } from '../../providers/provider.js';
import { providers } from '../../providers/catalog/registry.js';
import { scheduleOf } from './genai-prices.js';
import { namePattern } from './name-pattern.js';
import { PriceData } from './price-data.js';

/** Some prices change with the time of day, so a list is kept this long. */
const KEPT_MS = 5 * 60_000;

/** A model without its price, which may change while the process runs. */
interface ListedModel {
  readonly entry: ModelEntry;
  readonly schedule: PriceSchedule;
}

/** The models of one provider at the prices of one moment. */
interface ProviderModels {
  readonly listed: readonly ListedModel[];
  readonly models: readonly ModelEntry[];
  /** The same as JSON, without the brackets of the list. */
  readonly json: string;
  /** Whether none of its prices depends on the time. */
  readonly isSteady: boolean;
}

interface PricedCatalog {
  readonly models: readonly ModelEntry[];
  readonly bytes: Buffer;
  readonly expiresAt: number;
}

/**
 * Models from `PriceData`, from our table of unit prices, and from their provider's row. Parsing,
 * pricing and writing the data costs some 100 ms and 10 MiB, once, at the first request for it: building it at the start of every process
 * cost a tenth of its throughput. Later, only the few models with time-dependent prices are priced again.
 */
export class GenaiModelCatalog extends ModelCatalog {
  private parts: readonly ProviderModels[] | null = null;
  private priced: PricedCatalog | null = null;
  private preparing: Promise<void> | null = null;
  private version = 0;

  constructor(private readonly data = new PriceData()) {
    super();
  }

  /** One provider per turn of the event loop, so that other requests do not wait. */
  prepare(): Promise<void> | null {
    if (this.priced !== null) return null;
    return (this.preparing ??= this.prepareInTurns());
  }

  private async prepareInTurns(): Promise<void> {
    const parts: ProviderModels[] = [];
    for (const provider of providers.values()) {
      parts.push(pricedPart(listedOf(this.data, provider), Date.now()));
      await nextTurn();
    }
    this.parts ??= parts;
    this.priced ??= joined(parts, Date.now());
    this.preparing = null;
  }

  all(): readonly ModelEntry[] {
    return this.current().models;
  }

  listed(): Buffer {
    return this.current().bytes;
  }

  private current(): PricedCatalog {
    const now = Date.now();
    this.forgetOldData();
    if (this.priced === null || now >= this.priced.expiresAt) {
      this.parts = this.parts
        ? this.parts.map((part) => (part.isSteady ? part : pricedPart(part.listed, now)))
        : [...providers.values()].map((provider) => pricedPart(listedOf(this.data, provider), now));
      this.priced = joined(this.parts, now);
    }
    return this.priced;
  }

  private forgetOldData(): void {
    const { version } = this.data;
    if (version === this.version) return;
    this.version = version;
    this.parts = null;
    this.priced = null;
  }
}

function pricedPart(listed: readonly ListedModel[], now: number): ProviderModels {
  const models = listed.map(({ entry, schedule }) => withPrice(entry, scheduledPrice(schedule, now)));
  return {
    listed,
    models,
    json: JSON.stringify(models).slice(1, -1),
    isSteady: listed.every(({ schedule }) => schedule.every(({ when }) => when.kind === 'always')),
  };
}

function joined(parts: readonly ProviderModels[], now: number): PricedCatalog {
  const models = parts.flatMap((part) => part.models);
  const data = parts.map(({ json }) => json).filter((json) => json !== '');
  // In the order of `ModelList`, joined from JSON that is already written.
  const text = `{"object":"list","data":[${data.join(',')}],"total":${models.length}}`;
  return { models, bytes: Buffer.from(text), expiresAt: now + KEPT_MS };
}

/** By name. The provider's own row overrides the price data. */
function listedOf(data: PriceData, provider: Provider): readonly ListedModel[] {
  const models = new Map<string, ListedModel>();
  const pricesId = provider.pricesId === undefined ? provider.id : provider.pricesId;
  for (const model of dataOf(data, provider)) {
    const names = namesOf(model).filter((name) => !models.has(name) && !isRetired(pricesId, name));
    const schedule = names.length > 0 ? scheduleOf(model) : [];
    for (const id of names)
      models.set(id, {
        entry: modelEntry(id, provider, model.context_window ?? null, nameOf(model, id)),
        schedule: withUnitPrices(schedule, provider.id, id),
      });
  }
  for (const id of unitPricedModels(provider.id))
    if (!models.has(id))
      models.set(id, {
        entry: modelEntry(id, provider, null),
        schedule: withUnitPrices([], provider.id, id),
      });
  for (const [id, price] of provider.prices ?? [])
    models.set(id, {
      entry: modelEntry(id, provider, null),
      schedule: [{ when: { kind: 'always' }, price }],
    });
  return [...models.values()].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
}

/** An entry is named once, and its snapshots differ by their day. */
function nameOf({ id, name }: ModelInfo, model: string): string | null {
  if (!name) return null;
  return model === id || !/\d{4}-?\d{2}-?\d{2}$/.test(model) ? name : `${name} (${model})`;
}

const dataOf = (data: PriceData, { id, pricesId }: Provider): readonly ModelInfo[] =>
  pricesId === null ? [] : data.modelsOf(pricesId ?? id);

/**
 * The names by which clients request the model of an entry in the price data. An entry describes a family by rules. Names that the rules
 * spell out are listed, and the entry's own id if the rules accept it. A rule on a part of a name (`contains`) also accepts names that no
 * provider has, so it confirms none; the beginning of a name (`ft:gpt-4o-`) is not a name either. If a version is spelled with a dot and
 * with a dash (`gpt-5.1`, `gpt-5-1`), the one with the dot is the provider's.
 */
export function namesOf({ id, match }: ModelInfo): readonly string[] {
  const names = new Set(spelledOut(match).filter(isWhole));
  if (isWhole(id) && accepts(match, id)) names.add(id);
  const dashed = new Set(
    [...names].filter((name) => name.includes('.')).map((name) => name.replaceAll('.', '-')),
  );
  return [...names].filter((name) => !dashed.has(name));
}

const isWhole = (name: string): boolean => !name.endsWith('-') && !name.startsWith('ft:');

function spelledOut(match: MatchLogic): readonly string[] {
  if ('equals' in match) return [match.equals];
  return 'or' in match ? match.or.flatMap(spelledOut) : [];
}

function accepts(match: MatchLogic, name: string): boolean {
  if ('equals' in match) return match.equals === name;
  if ('starts_with' in match) return name.startsWith(match.starts_with);
  if ('or' in match) return match.or.some((rule) => accepts(rule, name));
  if ('and' in match) return match.and.every((rule) => accepts(rule, name) || isPart(rule, name));
  return 'regex' in match && namePattern(match.regex).test(name);
}

/** Within a conjunction, another rule confirms the name. */
function isPart(match: MatchLogic, name: string): boolean {
  if ('contains' in match) return name.includes(match.contains);
  return 'ends_with' in match && name.endsWith(match.ends_with);
}
