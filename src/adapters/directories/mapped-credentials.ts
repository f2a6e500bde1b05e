import { LRUCache } from 'lru-cache';
import { AppError } from '../../common/errors/app-error.js';
import { mapMaybePromise, type MaybePromise } from '../../common/maybe-promise.js';
import { Secret } from '../../common/settings/secret.js';
import { credentialIn } from '../../external-credentials/secret-managers/secret-text.js';
import { unusableSecret } from '../../external-credentials/secret-managers/secret-location.js';
import type { VirtualKeySnapshot } from '../../gateway/ports.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { MappingRow } from './reference-row.js';
import type { SecretValues } from './secret-values.js';

/** The target of a mapping that is the provider's key. */
const KEY = 'key';
const IN_USE_MAX = 10_000;

interface MergedKey {
  readonly secrets: readonly Secret[];
  readonly snapshot: VirtualKeySnapshot;
}

/** Completes virtual keys with the values of their secret references. */
export class MappedCredentials {
  /** The same object as long as no value changes, because targets are built once for it. */
  private readonly merged = new WeakMap<VirtualKeySnapshot, MergedKey>();
  private readonly inUse = new LRUCache<string, readonly MappingRow[]>({ max: IN_USE_MAX });

  constructor(readonly values: SecretValues) {}

  /** Returns without a promise if all values are in memory. Rejects or throws like `SecretValues.get`. */
  complete(key: VirtualKeySnapshot, mappings: readonly MappingRow[]): MaybePromise<VirtualKeySnapshot> {
    const secrets = mappings.map((mapping) => this.valueOf(mapping));
    this.inUse.set(key.id, mappings);
    return mapMaybePromise(together(secrets), (known) => this.merge(key, mappings, known));
  }

  /** The provider refused the credential of a virtual key: its values are read again early. */
  noteRefused(id: string): void {
    for (const { reference } of this.inUse.get(id) ?? []) if (reference) this.values.noteRefused(reference);
  }

  private valueOf({ reference }: MappingRow): Secret | Promise<Secret> {
    if (reference) return this.values.get(reference);
    throw new AppError('secret_unusable', {
      reference: 'of this virtual key',
      detail: 'this workspace may not use it',
    });
  }

  private merge(
    key: VirtualKeySnapshot,
    mappings: readonly MappingRow[],
    secrets: readonly Secret[],
  ): VirtualKeySnapshot {
    const known = this.merged.get(key);
    if (known && secrets.every((secret, index) => secret === known.secrets[index])) return known.snapshot;
    const snapshot = { ...key, credentials: credentialsOf(key, mappings, secrets) };
    this.merged.set(key, { secrets, snapshot });
    return snapshot;
  }
}

function credentialsOf(
  { credentials, providerId }: VirtualKeySnapshot,
  mappings: readonly MappingRow[],
  secrets: readonly Secret[],
): VirtualKeySnapshot['credentials'] {
  let { key } = credentials;
  const fields = { ...credentials.fields };
  for (const [index, { target_field: target, secret_key, value_format, reference }] of mappings.entries()) {
    const place = { reference: reference?.slug ?? '' };
    const value = credentialIn(place, secrets[index] as Secret, { key: secret_key, format: value_format });
    if (target === KEY) key = value;
    else fields[target] = checkedField(place, { providerId, target }, value);
  }
  return { ...credentials, key, fields };
}

/** A field may become a part of a header, so its rule applies to a value from outside as well. */
function checkedField(
  place: { readonly reference: string },
  { providerId, target }: { readonly providerId: string; readonly target: string },
  value: Secret,
): string {
  const field = findProvider(providerId).fields?.find(({ name }) => name === target);
  if (!field?.pattern.test(value.reveal()))
    throw unusableSecret(place, `its value is invalid for "${target}"`);
  return value.reveal();
}

function together(secrets: readonly (Secret | Promise<Secret>)[]): MaybePromise<readonly Secret[]> {
  const known = secrets.filter((secret) => secret instanceof Secret);
  if (known.length === secrets.length) return known;
  return Promise.all(secrets.map((secret) => Promise.resolve(secret)));
}
