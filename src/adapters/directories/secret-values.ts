import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../common/errors/app-error.js';
import type { SecretBox } from '../../common/crypto/envelope.js';
import { createLogger } from '../../common/observability/logger.js';
import { Secret } from '../../common/settings/secret.js';
import type {
  SecretLocation,
  SecretManager,
} from '../../external-credentials/secret-managers/secret-location.js';
import { type ReferenceRow, locationOf } from './reference-row.js';
import type { KeptRow } from './snapshot/kept-row.js';
import type { Memory } from './snapshot/memory.js';
import { readRow, writeRow } from './snapshot/row-text.js';

export interface SecretValuesOptions {
  /** How long a value is used without being read again, in milliseconds. */
  readonly ttlMs: number;
  /** How long a value is used while its manager is unavailable, in milliseconds since it was read. */
  readonly staleMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

interface SecretEntry {
  reference: ReferenceRow;
  /** Null until the first read succeeds. */
  value: Secret | null;
  readAt: number;
  usedAt: number;
  /** It comes from a snapshot, so it is used only if its manager is unavailable. */
  isRestored: boolean;
  /** The provider refused it since it was last read. */
  isRefused: boolean;
  pending: Promise<Secret> | null;
  failure: { readonly error: AppError; readonly until: number } | null;
}

const ENTRIES_MAX = 10_000;
/** How long a failure is cached, so that requests do not flood a manager that is unavailable. */
const FAILURE_MS = 5_000;
/** A value without requests for this time is no longer refreshed. */
const WANTED_FOR_MS = 24 * 60 * 60_000;
/** Tolerated difference between the clocks of a process before and after a restart. */
const CLOCK_TOLERANCE_MS = 60_000;

const logger = createLogger('secret-references');

/**
 * The values of secret references, in memory. A fresh value is returned without I/O. An older one is refreshed in the background, up to
 * twice its lifetime; then requests wait for the manager. While the manager is unavailable, the last value is used, also one that the
 * previous process left in its snapshot, sealed with a key derived from the master key. A value that its manager refuses is dropped.
 */
export class SecretValues implements Memory {
  readonly question = hash('sha256', 'secret values 1', 'hex');
  learned = 0;
  forgotten = 0;
  private keepsRows = false;
  private readonly entries = new LRUCache<string, SecretEntry>({ max: ENTRIES_MAX });
  private readonly now: () => number;

  constructor(
    private readonly manager: SecretManager,
    private readonly box: SecretBox,
    private readonly options: SecretValuesOptions,
  ) {
    this.now = options.now ?? (() => performance.now());
  }

  /** Rejects or throws with `secret_unavailable`, `secret_unusable` and `workload_identity_refused`. */
  get(reference: ReferenceRow): Secret | Promise<Secret> {
    const entry = this.entryOf(reference);
    const now = this.now();
    entry.usedAt = now;
    const { value } = entry;
    const age = now - entry.readAt;
    if (value !== null && !entry.isRestored && age < 2 * this.options.ttlMs) {
      if (age >= this.options.ttlMs) this.refreshInBackground(entry, now);
      return value;
    }
    if (entry.failure) return this.getAfterFailure(entry, entry.failure, now);
    return this.read(entry).catch((error: unknown) => lastValue(this.usable(entry), error));
  }

  /** The last value, while a request in the background asks whether the manager is available again. */
  private getAfterFailure(
    entry: SecretEntry,
    { error, until }: NonNullable<SecretEntry['failure']>,
    now: number,
  ): Secret | Promise<Secret> {
    const value = this.usable(entry);
    if (now < until) return lastValue(value, error);
    if (value === null) return this.read(entry);
    this.refreshInBackground(entry, now);
    return value;
  }

  /** The provider refused the value: it may have been rotated. Each value is read again early once. */
  noteRefused(reference: ReferenceRow): void {
    const entry = this.entries.get(keyOf(reference));
    if (!entry || entry.value === null || entry.isRefused) return;
    entry.isRefused = true;
    this.refreshInBackground(entry, this.now());
  }

  keepRows(): void {
    this.keepsRows = true;
  }

  *kept(): Iterable<KeptRow> {
    if (!this.keepsRows) return;
    const now = this.now();
    const clock = Date.now() - now;
    for (const [key, entry] of this.entries.entries()) {
      const { value, reference, readAt, usedAt } = entry;
      if (value === null || now - readAt >= this.options.staleMs) continue;
      const sealed = this.box.sealBytes(
        reference.organization_id,
        purposeOf(key),
        Buffer.from(value.reveal()),
      );
      yield {
        question: this.question,
        key,
        asked: reference,
        row: writeRow({ sealed }),
        readAt: clock + readAt,
        wantedAt: clock + usedAt,
      };
    }
  }

  takeBack({ key, asked: requested, row, readAt, wantedAt: usedAt }: KeptRow): boolean {
    const [now, clock] = [this.now(), Date.now()];
    const age = Math.max(0, clock - readAt);
    if (readAt > clock + CLOCK_TOLERANCE_MS || age >= this.options.staleMs || this.entries.get(key)?.value)
      return false;
    try {
      const reference = requested as ReferenceRow;
      const { sealed } = readRow(row) as { readonly sealed: Uint8Array };
      const clear = this.box.openBytes(reference.organization_id, purposeOf(key), Buffer.from(sealed));
      Object.assign(this.entryOf(reference), {
        value: new Secret(clear.toString('utf8')),
        readAt: now - age,
        wantedAt: now - Math.max(0, clock - usedAt),
        isRestored: true,
      });
      return true;
    } catch (error) {
      logger.warn({ err: error }, 'A secret in a snapshot cannot be read.');
      return false;
    }
  }

  /** Also refreshes values that are due without a request, so that the next request need not wait. */
  async renew(most: number): Promise<void> {
    const now = this.now();
    const due: SecretEntry[] = [];
    for (const [key, entry] of this.entries.entries()) {
      if (now - entry.usedAt >= WANTED_FOR_MS) this.drop(key);
      else if (this.isDue(entry, now) && due.length < most) due.push(entry);
    }
    await Promise.all(due.map((entry) => this.read(entry).catch(() => undefined)));
  }

  private isDue(entry: SecretEntry, now: number): boolean {
    const isOld = entry.isRestored || now - entry.readAt >= this.options.ttlMs;
    return isOld && entry.pending === null && (entry.failure === null || now >= entry.failure.until);
  }

  private refreshInBackground(entry: SecretEntry, now: number): void {
    if (entry.failure !== null && now < entry.failure.until) return;
    this.read(entry).catch(() => undefined);
  }

  /** The value, if it may be used although its manager is unavailable. */
  private usable({ value, readAt }: SecretEntry): Secret | null {
    return value !== null && this.now() - readAt < this.options.staleMs ? value : null;
  }

  /** One read of an entry at a time. */
  private read(entry: SecretEntry): Promise<Secret> {
    entry.pending ??= this.readNow(entry).finally(() => {
      entry.pending = null;
    });
    return entry.pending;
  }

  private async readNow(entry: SecretEntry): Promise<Secret> {
    const readAt = this.now();
    try {
      const location: SecretLocation = locationOf(this.box, entry.reference);
      const read = await this.manager.read(location);
      const isNews = entry.value?.reveal() !== read.reveal();
      if (isNews) {
        this.learned += 1;
        // The snapshot must lose the value that was replaced.
        if (entry.value !== null) this.forgotten += 1;
        entry.value = read;
        entry.isRefused = false;
      }
      Object.assign(entry, { readAt, isRestored: false, failure: null });
      // The same object for an unchanged value, so that what is built from it stays valid.
      return entry.value as Secret;
    } catch (thrown) {
      const error = AppError.from(thrown);
      this.noteFailure(entry, error);
      throw error;
    }
  }

  private noteFailure(entry: SecretEntry, error: AppError): void {
    const { id, slug, organization_id } = entry.reference;
    if (entry.failure === null)
      logger.warn(
        { secret_reference_id: id, slug, organization_id, err: error },
        'The value of a secret reference cannot be read. Check the secret manager and the reference.',
      );
    entry.failure = { error, until: this.now() + FAILURE_MS };
    if (isTemporary(error) || entry.value === null) return;
    entry.value = null;
    this.forgotten += 1;
  }

  private entryOf(reference: ReferenceRow): SecretEntry {
    const key = keyOf(reference);
    const known = this.entries.get(key);
    if (known) {
      // The organization's key may have been sealed again with another master key.
      known.reference = reference;
      return known;
    }
    const entry: SecretEntry = {
      reference,
      value: null,
      readAt: 0,
      usedAt: this.now(),
      isRestored: false,
      isRefused: false,
      pending: null,
      failure: null,
    };
    this.entries.set(key, entry);
    return entry;
  }

  private drop(key: string): void {
    this.entries.delete(key);
    this.forgotten += 1;
  }
}

/** A changed reference is another one: its manager or its path may have changed. */
const keyOf = ({ id, revision }: ReferenceRow): string => `${id}@${revision}`;

const purposeOf = (key: string): readonly string[] => ['secret value', key];

const WITHDRAWN: ReadonlySet<AppError['code']> = new Set([
  'credential_unusable',
  'secret_unusable',
  'workload_identity_address_refused',
  'workload_identity_refused',
]);

/** Only a manager that cannot be reached leaves the last value in use; one that refuses has withdrawn it. */
const isTemporary = ({ code }: AppError): boolean => !WITHDRAWN.has(code);

function lastValue(value: Secret | null, error: unknown): Secret {
  if (value === null || (error instanceof AppError && !isTemporary(error))) throw error;
  return value;
}
