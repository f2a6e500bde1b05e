import { hash } from 'node:crypto';
import { AppError } from '../../common/errors/app-error.js';
import { isDatabaseUnavailable, isDatabaseBusy } from '../../database/sessions/database-errors.js';
import { createLogger } from '../../common/observability/logger.js';
import type { KeptRow } from './snapshot/kept-row.js';
import { readRow, writeRow } from './snapshot/row-text.js';
import type { Memory } from './snapshot/memory.js';
import { type Ages, type RememberedValue, RememberedValues } from './remembered-values.js';
import { StoreHealth } from '../store-health.js';

export type { Ages } from './remembered-values.js';

export interface CacheOptions<Lookup, Row, Value> {
  /** Reads the store. Null means that there is no such row; that is cached too. */
  readonly load: (lookup: Lookup) => Promise<Row | null>;
  /** Builds the value from a row. */
  readonly open: (row: Row) => Value;
  readonly idOf: (value: Value) => string;
  /** Ids of other resources that the value is built from: a change of one of them drops the value too. */
  readonly partsOf?: (value: Value) => readonly string[];
  readonly agesOf: (value: Value) => Ages;
  /** The statement that `load` runs: rows that another release read with another statement are not loaded from a snapshot. */
  readonly question?: string;
  /** An equivalent lookup that holds no secret, for snapshots. Default: the lookup itself. */
  readonly lasting?: (lookup: Lookup) => Lookup;
  /** Maximum cached values. Absent ones have a limit of their own, so that guessed keys do not evict real ones. */
  readonly maxFound?: number;
  readonly maxAbsent?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const MAX_FOUND = 50_000;
const MAX_ABSENT = 100_000;
const ABSENT_MS = 30_000;
const LOAD_TIMEOUT_MS = 4_000;
const MAX_RELOADS = 3;
/** For the snapshot, a value without requests is reloaded at this interval, as long as it was used within a day. */
const RENEW_AFTER_MS = 10 * 60_000;
const WANTED_FOR_MS = 24 * 60 * 60_000;
/** Tolerated difference between the clocks of a process before and after a restart. */
const CLOCK_TOLERANCE_MS = 60_000;

const logger = createLogger('directories');

/**
 * Values of a store, cached in the process: one read serves all concurrent lookups. Values are refreshed before they are too old, dropped
 * when they change, and served for a limited time when the store is unavailable.
 *
 * A load is repeated if its value was invalidated meanwhile, because it may have read the old row. The ids behind an absent value are
 * unknown, so any change invalidates it. Rejects with `auth_unavailable` when the store is unavailable and no usable value is cached.
 */
export class RefreshingCache<Asked, Row, Value> implements Memory {
  readonly question: string;
  learned = 0;
  forgotten = 0;
  private keepsRows = false;
  private readonly values: RememberedValues<Asked, Value>;
  private readonly absent = new Map<string, number>();
  private readonly loading = new Map<string, Promise<Value | null>>();
  private readonly health = new StoreHealth();
  /** Ids that changed while something was loading, each with its generation. */
  private readonly changes = new Map<string, number>();
  private loads = 0;
  private readonly now: () => number;
  private generation = 0;
  private era = 0;

  constructor(private readonly options: CacheOptions<Asked, Row, Value>) {
    this.now = options.now ?? (() => performance.now());
    this.values = new RememberedValues(options.maxFound ?? MAX_FOUND);
    this.question = hash('sha256', options.question ?? '', 'hex');
  }

  /** Returns without a promise when the value is in memory. `key` is the cache key of `asked`. */
  find(key: string, lookup: Asked): Value | null | Promise<Value | null> {
    const entry = this.values.get(key);
    if (entry) {
      const age = this.now() - entry.loadedAt;
      if (age < entry.ages.softMs && entry.era === this.era) return entry.value;
      return this.findAged(key, lookup, entry);
    }
    const absentUntil = this.absent.get(key);
    if (absentUntil !== undefined && this.now() < absentUntil) return null;
    return this.findUnknown(key, lookup);
  }

  /** Drops the values with this id, and all absent ones, because they may exist now. */
  forget(id: string): void {
    this.generation += 1;
    this.absent.clear();
    if (this.loads > 0) this.noteChange(id);
    if (this.values.dropAllOf(id)) this.forgotten += 1;
  }

  /** Uses no cached value until it is reloaded. While the store is unavailable, cached values are still served. */
  clear(): void {
    this.generation += 1;
    this.era += 1;
    this.loading.clear();
    this.absent.clear();
  }

  /** Limits how often a load repeats its read: a lookup after the second change must not wait for a load that began before the first. */
  private noteChange(id: string): void {
    if (this.changes.has(id)) this.loading.clear();
    this.changes.set(id, this.generation);
  }

  keepRows(): void {
    this.keepsRows = true;
  }

  *kept(): Iterable<KeptRow> {
    const now = this.now();
    const clock = Date.now() - now;
    for (const [key, entry] of [...this.values.all()].reverse())
      if (entry.source && now - entry.loadedAt < entry.ages.staleMs)
        yield {
          question: this.question,
          key,
          ...entry.source,
          readAt: clock + entry.loadedAt,
          wantedAt: clock + entry.wantedAt,
        };
  }

  takeBack({ key, asked: lookup, row, readAt, wantedAt }: KeptRow): boolean {
    const [now, clock] = [this.now(), Date.now()];
    const loadedAt = now - Math.max(0, clock - readAt);
    if (readAt > clock + CLOCK_TOLERANCE_MS || (this.values.get(key)?.loadedAt ?? -Infinity) >= loadedAt)
      return false;
    try {
      const value = this.options.open(readRow(row) as Row);
      const ages = this.options.agesOf(value);
      if (now - loadedAt >= ages.staleMs) return false;
      const source = { asked: lookup as Asked, row };
      // Belongs to no era, so that it is served only while the store is unavailable.
      const era = -1;
      this.values.set(key, {
        ...{ value, ids: this.idsOf(value), ages, era, source },
        ...{ loadedAt, wantedAt: now - Math.max(0, clock - wantedAt) },
      });
      return true;
    } catch (error) {
      logger.warn({ err: error }, 'A row of a snapshot cannot be read.');
      return false;
    }
  }

  async renew(most: number): Promise<void> {
    for (const { key, lookup } of this.due(most)) {
      const now = this.now();
      if (this.health.isUnavailable(now) && !this.health.takeProbe(now)) return;
      await this.load(key, lookup).catch((error: unknown) => {
        // A lookup of a value that cannot be reloaded would fail too.
        if (!(error instanceof StoreUnavailable) && this.values.drop(key)) this.forgotten += 1;
      });
    }
  }

  /** Least recently read first, which puts those of earlier eras first. Values unused for a day are dropped. */
  private due(most: number): { readonly key: string; readonly lookup: Asked }[] {
    const now = this.now();
    const due: { readonly key: string; readonly lookup: Asked }[] = [];
    for (const [key, { era, loadedAt, wantedAt, source }] of this.values.all()) {
      if (due.length === most || (era === this.era && now - loadedAt < RENEW_AFTER_MS)) break;
      if (!source || now - wantedAt >= WANTED_FOR_MS) this.values.drop(key);
      else due.push({ key, lookup: source.asked });
    }
    return due;
  }

  private findAged(
    key: string,
    lookup: Asked,
    entry: RememberedValue<Asked, Value>,
  ): Value | null | Promise<Value | null> {
    const now = this.now();
    const age = now - entry.loadedAt;
    entry.wantedAt = now;
    if (age < entry.ages.hardMs && entry.era === this.era) {
      this.refreshInBackground(key, lookup, now);
      return entry.value;
    }
    if (this.health.isUnavailable(now) && age < entry.ages.staleMs) {
      this.refreshInBackground(key, lookup, now);
      return entry.value;
    }
    return this.load(key, lookup).catch((error: unknown) => this.staleOr(key, error));
  }

  private findUnknown(key: string, lookup: Asked): Promise<Value | null> {
    const now = this.now();
    if (this.health.isUnavailable(now) && !this.health.takeProbe(now)) return Promise.reject(unavailable());
    return this.load(key, lookup).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? unavailable(error.cause) : error;
    });
  }

  /** The cached value, if the store was unavailable and the value was not dropped meanwhile. */
  private staleOr(key: string, error: unknown): Value {
    if (!(error instanceof StoreUnavailable)) throw error;
    const entry = this.values.get(key);
    if (!entry || this.now() - entry.loadedAt >= entry.ages.staleMs) throw unavailable(error.cause);
    return entry.value;
  }

  /** While the store is unavailable, one request per second tries it. Otherwise each would open a connection. */
  private refreshInBackground(key: string, lookup: Asked, now: number): void {
    if (this.loading.has(key) || (this.health.isUnavailable(now) && !this.health.takeProbe(now))) return;
    this.load(key, lookup).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable))
        logger.warn({ err: error }, 'A cached value could not be refreshed. It is used until it is too old.');
    });
  }

  private load(key: string, lookup: Asked): Promise<Value | null> {
    const running = this.loading.get(key);
    if (running) return running;
    this.loads += 1;
    const promise = this.loadUnchanged(key, lookup).finally(() => {
      if (--this.loads === 0) this.changes.clear();
      if (this.loading.get(key) === promise) this.loading.delete(key);
    });
    this.loading.set(key, promise);
    return promise;
  }

  /** Reads until the value was not invalidated during the read. A value that may still be old is returned but not cached. */
  private async loadUnchanged(key: string, lookup: Asked): Promise<Value | null> {
    for (let reads = 1; ; reads++) {
      const { generation, era } = this;
      const loadedAt = this.now();
      const row = await this.ask(lookup);
      const value = row === null ? null : this.options.open(row);
      if (!this.mayBeOld(value, generation, era)) {
        if (row === null || value === null) this.keepAbsent(key, loadedAt);
        else this.keep(key, value, { loadedAt, era, source: this.sourceOf(lookup, row) });
        return value;
      }
      if (reads === MAX_RELOADS) return value;
    }
  }

  private mayBeOld(value: Value | null, generation: number, era: number): boolean {
    if (value === null || era !== this.era) return generation !== this.generation;
    return this.idsOf(value).some((id) => (this.changes.get(id) ?? 0) > generation);
  }

  private sourceOf(lookup: Asked, row: Row): RememberedValue<Asked, Value>['source'] {
    return this.keepsRows ? { asked: this.options.lasting?.(lookup) ?? lookup, row: writeRow(row) } : null;
  }

  private async ask(lookup: Asked): Promise<Row | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StoreUnavailable(new Error('The store did not respond in time.'))),
        LOAD_TIMEOUT_MS,
      );
    });
    try {
      const row = await Promise.race([this.options.load(lookup), timeout]);
      this.health.answered();
      return row;
    } catch (error) {
      // A statement that timed out in the database counts as unavailable too.
      if (!(error instanceof StoreUnavailable) && !isDatabaseUnavailable(error) && !isDatabaseBusy(error))
        throw error;
      this.noteUnavailable(error);
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  private noteUnavailable(error: unknown): void {
    const now = this.now();
    if (!this.health.isUnavailable(now))
      logger.warn({ err: error }, 'The key store is unavailable. Known keys work for a while.');
    this.health.failed(now);
  }

  private keepAbsent(key: string, loadedAt: number): void {
    if (this.values.drop(key)) this.forgotten += 1;
    this.absent.delete(key);
    this.absent.set(key, loadedAt + ABSENT_MS);
    if (this.absent.size <= (this.options.maxAbsent ?? MAX_ABSENT)) return;
    const oldest = this.absent.keys().next();
    if (!oldest.done) this.absent.delete(oldest.value);
  }

  private keep(
    key: string,
    value: Value,
    read: Pick<RememberedValue<Asked, Value>, 'loadedAt' | 'era' | 'source'>,
  ): void {
    this.absent.delete(key);
    const before = this.values.get(key);
    const isNews = before?.source?.row !== read.source?.row;
    if (isNews) this.learned += 1;
    // What an updated row no longer grants must leave the snapshot as promptly as a deleted row.
    if (isNews && before) this.forgotten += 1;
    const ids = this.idsOf(value);
    const ages = this.options.agesOf(value);
    this.values.set(key, { ...read, value, ids, ages, wantedAt: before?.wantedAt ?? read.loadedAt });
  }

  private idsOf(value: Value): readonly string[] {
    const id = this.options.idOf(value);
    return this.options.partsOf ? [id, ...this.options.partsOf(value)] : [id];
  }
}

/** Internal: distinguishes an unavailable store from a row that cannot be used. */
class StoreUnavailable extends Error {
  constructor(override readonly cause: unknown) {
    super('The store is unavailable.');
  }
}

const unavailable = (cause?: unknown) => new AppError('auth_unavailable', {}, { cause });
