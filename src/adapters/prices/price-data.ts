import { readFileSync, statSync } from 'node:fs';
import { calcPrice, findProvider as findListed, type ModelInfo } from '@pydantic/genai-prices';
import { createLogger } from '../../common/observability/logger.js';
import { ADDED_MODELS } from './added-models.js';
import { matches, type PricedProvider, readPriceDocument } from './price-document.js';

const logger = createLogger('prices');

/** How often the operator's file is looked at. */
const CHECKED_MS = 5_000;

/**
 * Prices and context windows of models: from the operator's file (`GATEHOUSE_PRICES_FILE`), then from our own table of models that the
 * package lacks, then from the data that ships with `@pydantic/genai-prices`. The first that has a model decides. The file is read again
 * when it has changed. One that cannot be used is reported in the log, and the last usable one stays in force.
 */
export class PriceData {
  private static readonly shared = new Map<string | null, PriceData>();

  /** The data of a file, which all parts of a process share, so that it is read and reported once. */
  static of(file: string | null): PriceData {
    const data = this.shared.get(file) ?? new PriceData(file);
    this.shared.set(file, data);
    return data;
  }

  private providers: readonly PricedProvider[] = ADDED_MODELS;
  private mark = '';
  /** Why the file could not be used, reported once. */
  private failure: string | null = null;
  private checkedAt = 0;
  private readings = 0;

  constructor(private readonly file: string | null = null) {
    if (file !== null) this.check(file);
  }

  /** Changes with the file. */
  get version(): number {
    if (this.file !== null && Date.now() - this.checkedAt >= CHECKED_MS) this.check(this.file);
    return this.readings;
  }

  /** All models of a provider, by its name in the price data. A name may occur in several: the first counts. */
  modelsOf(provider: string): readonly ModelInfo[] {
    const added = this.providers.filter(({ id }) => id === provider).flatMap(({ models }) => models);
    // The package also matches similar names; only the exact one is meant.
    const listed = findListed({ providerId: provider });
    return listed?.id === provider ? [...added, ...listed.models] : added;
  }

  /** The entry for a model name; null if there is none. */
  find(provider: string, name: string): ModelInfo | null {
    const lower = name.toLowerCase();
    for (const { id, models } of this.providers) {
      const model = id === provider && models.find(({ match }) => matches(match, lower));
      if (model) return model;
    }
    return inPackage(provider, name);
  }

  private check(file: string): void {
    this.checkedAt = Date.now();
    try {
      const { mtimeMs, size, ino } = statSync(file);
      const mark = `${mtimeMs} ${size} ${ino}`;
      if (mark === this.mark) return;
      this.mark = mark;
      this.failure = null;
      this.providers = [...readPriceDocument(readFileSync(file, 'utf8')), ...ADDED_MODELS];
      this.readings++;
      logger.info(
        { file, models: this.providers.flatMap(({ models }) => models).length },
        'Prices were read.',
      );
    } catch (error) {
      const { message } = error as Error;
      if (message === this.failure) return;
      this.failure = message;
      logger.error(
        { file, error: message },
        'GATEHOUSE_PRICES_FILE cannot be used. The prices before it stay in force. "gatehouse prices check" shows what is wrong.',
      );
    }
  }
}

/** Pricing an empty usage is the package's only public access to its matching of model names. */
function inPackage(provider: string, name: string): ModelInfo | null {
  try {
    return calcPrice({}, name, { providerId: provider })?.model ?? null;
  } catch (error) {
    // The package throws on contradictory entries. Such a price is unknown; the request goes on.
    logger.warn({ provider, model: name, error }, 'The price data has an unusable entry.');
    return null;
  }
}
