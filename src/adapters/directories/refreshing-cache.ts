import { hash } from 'node:crypto';
import { AppError } from '../../common/errors/app-error.js';
import { isDatabaseAway, isDatabaseBusy } from '../../database/database-errors.js';
import { createLogger } from '../../common/observability/logger.js';
import type { KeptRow } from './snapshot/kept-row.js';
import { readRow, writeRow } from './snapshot/row-text.js';
import type { Memory } from '../memory.js';
import { type Ages, type RememberedValue, RememberedValues } from './remembered-values.js';
import { StoreHealth } from '../store-health.js';

export type { Ages } from './remembered-values.js';

export interface CacheOptions<Asked, Row, Value> {
  /** Reads the store. Null is "there is none", which is remembered too. */
  readonly load: (asked: Asked) => Promise<Row | null>;
  /** What is made of a row. */
  readonly open: (row: Row) => Value;
  readonly idOf: (value: Value) => string;
  /** Ids of other things that the value is made of: when one of them changes, it is forgotten too. */
  readonly partsOf?: (value: Value) => readonly string[];
  readonly agesOf: (value: Value) => Ages;
  /** The statement that `load` asks: rows of another release that asked otherwise are not taken back from a snapshot. */
  readonly question?: string;
  /** What `load` can be asked with as well, and holds no secret: snapshots keep it. As it is, where this is not given. */
  readonly lasting?: (asked: Asked) => Asked;
  /** Found values kept at most, and apart from them absent ones: guessing keys must not push real ones out. */
  readonly maxFound?: number;
  readonly maxAbsent?: number;
  /** Milliseconds that never go back. */
  readonly now?: () => number;
}

const MAX_FOUND = 50_000;
const MAX_ABSENT = 100_000;
const ABSENT_MS = 30_000;
const LOAD_TIMEOUT_MS = 4_000;
const MAX_RELOADS = 3;
/** A value without requests is refreshed at this interval, as long as it was used within a day: a snapshot needs it. */
const RENEW_AFTER_MS = 10 * 60_000;
const WANTED_FOR_MS = 24 * 60 * 60_000;
/** By so much the clocks of two lives of a process may differ. */
const CLOCK_TOLERANCE_MS = 60_000;

const logger = createLogger('directories');

/**
 * Values of a store, kept in the process: read once for all who ask at the same time, refreshed before they are too
 * old, forgotten when they change, and served for a bounded time when the store is unavailable.
 *
 * A load that was under way when what it finds was forgotten is repeated, because it may have read what was there before. Of a thing that it
 * does not find nobody knows what it is made of, so there any change counts.
 * Rejects with `auth_unavailable` when the store is unavailable and nothing usable is known.
 */
export class RefreshingCache<Asked, Row, Value> implements Memory {
  readonly question: string;
  learned = 0;
  forgotten = 0;
  private keepsRows = false;
  private readonly found: RememberedValues<Asked, Value>;
  private readonly absent = new Map<string, number>();
  private readonly loading = new Map<string, Promise<Value | null>>();
  private readonly health = new StoreHealth();
  /** What was forgotten while something is loaded, and in which generation. */
  private readonly changes = new Map<string, number>();
  private loads = 0;
  private readonly now: () => number;
  private generation = 0;
  private era = 0;

  constructor(private readonly options: CacheOptions<Asked, Row, Value>) {
    this.now = options.now ?? (() => performance.now());
    this.found = new RememberedValues(options.maxFound ?? MAX_FOUND);
    this.question = hash('sha256', options.question ?? '', 'hex');
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
    if (this.loads > 0) this.noteChange(id);
    if (this.found.dropAllOf(id)) this.forgotten += 1;
  }

  /** Trusts nothing that is remembered until it was read again; while the store is unavailable, it is still served. */
  clear(): void {
    this.generation += 1;
    this.era += 1;
    this.loading.clear();
    this.absent.clear();
  }

  /** A load repeats what it read a few times at most: whoever asks after the second change must not wait for one that began before the first. */
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
    for (const [key, entry] of [...this.found.all()].reverse())
      if (entry.source && now - entry.loadedAt < entry.ages.staleMs)
        yield {
          question: this.question,
          key,
          ...entry.source,
          readAt: clock + entry.loadedAt,
          wantedAt: clock + entry.wantedAt,
        };
  }

  takeBack({ key, asked, row, readAt, wantedAt }: KeptRow): boolean {
    const [now, clock] = [this.now(), Date.now()];
    const loadedAt = now - Math.max(0, clock - readAt);
    if (readAt > clock + CLOCK_TOLERANCE_MS || (this.found.get(key)?.loadedAt ?? -Infinity) >= loadedAt)
      return false;
    try {
      const value = this.options.open(readRow(row) as Row);
      const ages = this.options.agesOf(value);
      if (now - loadedAt >= ages.staleMs) return false;
      const source = { asked: asked as Asked, row };
      // Of no era, so that it serves only while the store is unavailable.
      const era = -1;
      this.found.set(key, {
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
    for (const { key, asked } of this.due(most)) {
      const now = this.now();
      if (this.health.isAway(now) && !this.health.takeProbe(now)) return;
      await this.load(key, asked).catch((error: unknown) => {
        // What cannot be read again would be refused to whoever asks for it, too.
        if (!(error instanceof StoreAway) && this.found.drop(key)) this.forgotten += 1;
      });
    }
  }

  /** Those that were longest unread come first, and those of another era were. What nobody wanted for a day is dropped. */
  private due(most: number): { readonly key: string; readonly asked: Asked }[] {
    const now = this.now();
    const due: { readonly key: string; readonly asked: Asked }[] = [];
    for (const [key, { era, loadedAt, wantedAt, source }] of this.found.all()) {
      if (due.length === most || (era === this.era && now - loadedAt < RENEW_AFTER_MS)) break;
      if (!source || now - wantedAt >= WANTED_FOR_MS) this.found.drop(key);
      else due.push({ key, asked: source.asked });
    }
    return due;
  }

  private findAged(
    key: string,
    asked: Asked,
    entry: RememberedValue<Asked, Value>,
  ): Value | null | Promise<Value | null> {
    const now = this.now();
    const age = now - entry.loadedAt;
    entry.wantedAt = now;
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

  /** While the store is unavailable, one request each second tries, or each would open a connection of its own. */
  private refreshInBackground(key: string, asked: Asked, now: number): void {
    if (this.loading.has(key) || (this.health.isAway(now) && !this.health.takeProbe(now))) return;
    this.load(key, asked).catch((error: unknown) => {
      if (!(error instanceof StoreAway))
        logger.warn({ err: error }, 'A cached value could not be refreshed. It is used until it is too old.');
    });
  }

  private load(key: string, asked: Asked): Promise<Value | null> {
    const running = this.loading.get(key);
    if (running) return running;
    this.loads += 1;
    const promise = this.loadUnchanged(key, asked).finally(() => {
      if (--this.loads === 0) this.changes.clear();
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
      const row = await this.ask(asked);
      const value = row === null ? null : this.options.open(row);
      if (!this.mayBeOld(value, generation, era)) {
        if (row === null || value === null) this.keepAbsent(key, loadedAt);
        else this.keep(key, value, { loadedAt, era, source: this.sourceOf(asked, row) });
        return value;
      }
      if (reads === MAX_RELOADS) return value;
    }
  }

  private mayBeOld(value: Value | null, generation: number, era: number): boolean {
    if (value === null || era !== this.era) return generation !== this.generation;
    return this.idsOf(value).some((id) => (this.changes.get(id) ?? 0) > generation);
  }

  private sourceOf(asked: Asked, row: Row): RememberedValue<Asked, Value>['source'] {
    return this.keepsRows ? { asked: this.options.lasting?.(asked) ?? asked, row: writeRow(row) } : null;
  }

  private async ask(asked: Asked): Promise<Row | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StoreAway(new Error('The store did not respond in time.'))),
        LOAD_TIMEOUT_MS,
      );
    });
    try {
      const row = await Promise.race([this.options.load(asked), timeout]);
      this.health.answered();
      return row;
    } catch (error) {
      // One that gives up after its time has not answered either.
      if (!(error instanceof StoreAway) && !isDatabaseAway(error) && !isDatabaseBusy(error)) throw error;
      this.noteAway(error);
      throw error instanceof StoreAway ? error : new StoreAway(error);
    } finally {
      clearTimeout(timer);
    }
  }

  private noteAway(error: unknown): void {
    const now = this.now();
    if (!this.health.isAway(now))
      logger.warn({ err: error }, 'The key store is unavailable. Known keys work for a while.');
    this.health.failed(now);
  }

  private keepAbsent(key: string, loadedAt: number): void {
    if (this.found.drop(key)) this.forgotten += 1;
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
    const before = this.found.get(key);
    const isNews = before?.source?.row !== read.source?.row;
    if (isNews) this.learned += 1;
    // What a row does not give any more must leave the snapshot as what is gone must.
    if (isNews && before) this.forgotten += 1;
    const ids = this.idsOf(value);
    const ages = this.options.agesOf(value);
    this.found.set(key, { ...read, value, ids, ages, wantedAt: before?.wantedAt ?? read.loadedAt });
  }

  private idsOf(value: Value): readonly string[] {
    const id = this.options.idOf(value);
    return this.options.partsOf ? [id, ...this.options.partsOf(value)] : [id];
  }
}

/** Not thrown to callers: tells "could not ask" from "the answer is bad". */
class StoreAway extends Error {
  constructor(override readonly cause: unknown) {
    super('The store is unavailable.');
  }
}

const unavailable = (cause?: unknown) => new AppError('auth_unavailable', {}, { cause });
