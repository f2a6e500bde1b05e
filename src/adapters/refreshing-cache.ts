import { AppError } from '../common/errors/app-error.js';
import { isDatabaseAway } from '../common/database/database-errors.js';
import { createLogger } from '../common/observability/logger.js';
import { StoreHealth } from './store-health.js';

/** How long a loaded value may be used, in milliseconds since the load began. */
export interface Ages {
  /** Until then it is served as it is. */
  readonly softMs: number;
  /** Until then it is served while a newer one is loaded in the background; after that, callers wait for the newer one. */
  readonly hardMs: number;
  /** Until then it is served if the store is away. */
  readonly staleMs: number;
}

export interface CacheOptions<Asked, Value> {
  /** Reads the store. Null is "there is none", which is remembered too. */
  readonly load: (asked: Asked) => Promise<Value | null>;
  readonly idOf: (value: Value) => string;
  /** Ids of other things that the value is made of: when one of them changes, it is forgotten too. */
  readonly partsOf?: (value: Value) => readonly string[];
  readonly agesOf: (value: Value) => Ages;
  /** Found values kept at most, and apart from them absent ones: guessing keys must not push real ones out. */
  readonly maxFound?: number;
  readonly maxAbsent?: number;
  /** Milliseconds that never go back. */
  readonly now?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAt: number;
  readonly ages: Ages;
  /** The generation that it was loaded in; older ones must be loaded anew, and serve only while the store is away. */
  readonly era: number;
}

const MAX_FOUND = 50_000;
const MAX_ABSENT = 100_000;
const ABSENT_MS = 30_000;
const LOAD_TIMEOUT_MS = 4_000;
const MAX_RELOADS = 3;

const logger = createLogger('directories');

/**
 * Values of a store, kept in the process: read once for all who ask at the same time, refreshed before they are too
 * old, forgotten when they change, and served for a bounded time when the store is away.
 *
 * A load that was under way when what it finds was forgotten is repeated, because it may have read what was there before. Of a thing that it
 * does not find nobody knows what it is made of, so there any change counts.
 * Rejects with `auth_unavailable` when the store is away and nothing usable is known.
 */
export class RefreshingCache<Asked, Value> {
  private readonly found = new Map<string, Entry<Value>>();
  private readonly keysOf = new Map<string, Set<string>>();
  private readonly absent = new Map<string, number>();
  private readonly loading = new Map<string, Promise<Value | null>>();
  private readonly health = new StoreHealth();
  /** What was forgotten while something is loaded, and in which generation. */
  private readonly forgotten = new Map<string, number>();
  private loads = 0;
  private readonly now: () => number;
  private generation = 0;
  private era = 0;

  constructor(private readonly options: CacheOptions<Asked, Value>) {
    this.now = options.now ?? (() => performance.now());
  }

  /** Answers without a promise when the answer is in memory. `key` is what `asked` is remembered by. */
  find(key: string, asked: Asked): Value | null | Promise<Value | null> {
    const entry = this.found.get(key);
    if (entry) {
      const age = this.now() - entry.loadedAt;
      if (age < entry.ages.softMs && entry.era === this.era) return entry.value;
      return this.findAged(key, asked, entry);
    }
    const absentUntil = this.absent.get(key);
    if (absentUntil !== undefined && this.now() < absentUntil) return null;
    return this.findUnknown(key, asked);
  }

  /** Forgets what has this id, and all that was absent, because it may be there now. */
  forget(id: string): void {
    this.generation += 1;
    this.absent.clear();
    if (this.loads > 0) this.noteForgotten(id);
    for (const key of [...(this.keysOf.get(id) ?? [])]) this.drop(key);
  }

  /** Trusts nothing that is remembered until it was read anew; while the store is away, it goes on serving. */
  clear(): void {
    this.generation += 1;
    this.era += 1;
    this.loading.clear();
    this.absent.clear();
  }

  /** A load repeats what it read a few times at most: whoever asks after the second change must not wait for one that began before the first. */
  private noteForgotten(id: string): void {
    if (this.forgotten.has(id)) this.loading.clear();
    this.forgotten.set(id, this.generation);
  }

  private findAged(key: string, asked: Asked, entry: Entry<Value>): Value | null | Promise<Value | null> {
    const now = this.now();
    const age = now - entry.loadedAt;
    if (age < entry.ages.hardMs && entry.era === this.era) {
      this.refreshInBackground(key, asked, now);
      return entry.value;
    }
    if (this.health.isAway(now) && age < entry.ages.staleMs) {
      this.refreshInBackground(key, asked, now);
      return entry.value;
    }
    return this.load(key, asked).catch((error: unknown) => this.staleOr(key, error));
  }

  private findUnknown(key: string, asked: Asked): Promise<Value | null> {
    const now = this.now();
    if (this.health.isAway(now) && !this.health.takeProbe(now)) return Promise.reject(unavailable());
    return this.load(key, asked).catch((error: unknown) => {
      throw error instanceof StoreAway ? unavailable(error.cause) : error;
    });
  }

  /** What is known by now, if the store could not be asked and the value was not forgotten meanwhile. */
  private staleOr(key: string, error: unknown): Value {
    if (!(error instanceof StoreAway)) throw error;
    const entry = this.found.get(key);
    if (!entry || this.now() - entry.loadedAt >= entry.ages.staleMs) throw unavailable(error.cause);
    return entry.value;
  }

  /** While the store is away, one request each second tries, or each would open a connection of its own. */
  private refreshInBackground(key: string, asked: Asked, now: number): void {
    if (this.loading.has(key) || (this.health.isAway(now) && !this.health.takeProbe(now))) return;
    this.load(key, asked).catch((error: unknown) => {
      if (!(error instanceof StoreAway))
        logger.warn(
          { err: error },
          'A remembered value could not be refreshed; it serves until it is too old.',
        );
    });
  }

  private load(key: string, asked: Asked): Promise<Value | null> {
    const running = this.loading.get(key);
    if (running) return running;
    this.loads += 1;
    const promise = this.loadUnchanged(key, asked).finally(() => {
      if (--this.loads === 0) this.forgotten.clear();
      if (this.loading.get(key) === promise) this.loading.delete(key);
    });
    this.loading.set(key, promise);
    return promise;
  }

  /** Reads until what is found was not forgotten meanwhile; a value that still may be old is not kept. */
  private async loadUnchanged(key: string, asked: Asked): Promise<Value | null> {
    for (let reads = 1; ; reads++) {
      const { generation, era } = this;
      const loadedAt = this.now();
      const value = await this.ask(asked);
      if (!this.mayBeOld(value, generation, era)) {
        this.keep(key, value, loadedAt, era);
        return value;
      }
      if (reads === MAX_RELOADS) return value;
    }
  }

  private mayBeOld(value: Value | null, generation: number, era: number): boolean {
    if (value === null || era !== this.era) return generation !== this.generation;
    return this.idsOf(value).some((id) => (this.forgotten.get(id) ?? 0) > generation);
  }

  private async ask(asked: Asked): Promise<Value | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StoreAway(new Error('The store did not answer in time.'))),
        LOAD_TIMEOUT_MS,
      );
    });
    try {
      const value = await Promise.race([this.options.load(asked), timeout]);
      this.health.answered();
      return value;
    } catch (error) {
      if (!(error instanceof StoreAway) && !isDatabaseAway(error)) throw error;
      this.noteAway(error);
      throw error instanceof StoreAway ? error : new StoreAway(error);
    } finally {
      clearTimeout(timer);
    }
  }

  private noteAway(error: unknown): void {
    const now = this.now();
    if (!this.health.isAway(now))
      logger.warn({ err: error }, 'The store of keys is away; known keys go on working for a while.');
    this.health.failed(now);
  }

  private keep(key: string, value: Value | null, loadedAt: number, era: number): void {
    this.drop(key);
    if (value === null) {
      this.absent.delete(key);
      this.absent.set(key, loadedAt + ABSENT_MS);
      dropOldest(this.absent, this.options.maxAbsent ?? MAX_ABSENT, () => undefined);
      return;
    }
    this.absent.delete(key);
    this.found.set(key, { value, loadedAt, era, ages: this.options.agesOf(value) });
    for (const id of this.idsOf(value)) {
      const keys = this.keysOf.get(id);
      if (keys) keys.add(key);
      else this.keysOf.set(id, new Set([key]));
    }
    dropOldest(this.found, this.options.maxFound ?? MAX_FOUND, (oldest) => this.drop(oldest));
  }

  private drop(key: string): void {
    const entry = this.found.get(key);
    if (!entry) return;
    this.found.delete(key);
    for (const id of this.idsOf(entry.value)) {
      const keys = this.keysOf.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.keysOf.delete(id);
    }
  }

  private idsOf(value: Value): readonly string[] {
    const id = this.options.idOf(value);
    return this.options.partsOf ? [id, ...this.options.partsOf(value)] : [id];
  }
}

/** Not thrown to callers: tells "could not ask" from "the answer is bad". */
class StoreAway extends Error {
  constructor(override readonly cause: unknown) {
    super('The store is away.');
  }
}

const unavailable = (cause?: unknown) => new AppError('auth_unavailable', {}, { cause });

/** A map gives its keys in the order in which they were set, and a refreshed value is set anew. */
function dropOldest(map: Map<string, unknown>, max: number, drop: (key: string) => void): void {
  if (map.size <= max) return;
  const oldest = map.keys().next();
  if (oldest.done) return;
  drop(oldest.value);
  map.delete(oldest.value);
}
