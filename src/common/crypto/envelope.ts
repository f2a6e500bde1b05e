import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors/app-error.js';
import { associatedData } from './associated-data.js';
import { openBytes, sealBytes } from './sealed-bytes.js';
import { Secret } from '../settings/secret.js';

/** An organization's own key, as its row holds it: sealed by the master key. */
export interface WrappedKey {
  readonly organizationId: string;
  readonly wrapped: Buffer;
}

/**
 * What a credential belongs to. Sealed credentials open only for the very same values, so a ciphertext moved to
 * another row, or a row pointed at another host, gives an error and never a secret in the wrong place.
 */
export interface CredentialBinding {
  readonly organizationId: string;
  /** Empty for a credential that the workspaces of the organization share. */
  readonly workspaceId: string;
  /** Of the virtual key, or of the integration. */
  readonly virtualKeyId: string;
  readonly providerId: string;
  /** Scheme, host and port that the credential is for, or empty for the provider's own address. */
  readonly origin: string;
  /** Which shape of fields is sealed, so that a later shape is never read as an earlier one. */
  readonly fieldSetVersion: number;
}

const KEY_BYTES = 32;
const KEYS_IN_MEMORY = 1000;

/**
 * Seals and opens provider credentials: the master key seals each organization's key, which seals its records.
 *
 * Answers `credential_unusable` for whatever does not open, with a cause that holds no plaintext. Opened
 * organization keys are kept in memory, the least recently used of them forgotten beyond a thousand.
 */
export class SecretBox {
  readonly #wrappingKey: KeyObject;
  readonly #otherWrappingKey: KeyObject | null;
  readonly #cheapRoot: KeyObject;
  readonly #organizationKeys = new LRUCache<string, KeyObject>({ max: KEYS_IN_MEMORY });

  /** Both are 32 bytes in base64. What `other` sealed is opened too: while the master key is replaced there are two. */
  constructor(masterKey: Secret, other?: Secret) {
    const bytes = bytesOf(masterKey);
    this.#wrappingKey = wrappingKeyOf(bytes);
    this.#otherWrappingKey = other ? wrappingKeyOf(bytesOf(other)) : null;
    this.#cheapRoot = createSecretKey(derived(bytes, 'gatehouse/cheap-bytes'));
  }

  /** Makes the key of a new organization, sealed for its row. */
  makeOrganizationKey(organizationId: string): WrappedKey {
    const wrapped = sealBytes(this.#wrappingKey, ownerOf(organizationId), randomBytes(KEY_BYTES));
    return { organizationId, wrapped };
  }

  /** The same organization key, sealed by the master key, whichever of the two had sealed it. Throws where neither had. */
  rewrap({ organizationId, wrapped }: WrappedKey): WrappedKey {
    const clear = this.#unwrap(organizationId, wrapped);
    return { organizationId, wrapped: sealBytes(this.#wrappingKey, ownerOf(organizationId), clear) };
  }

  seal(key: WrappedKey, binding: CredentialBinding, clear: Secret): Buffer {
    return unlessUnusable(() =>
      sealBytes(this.#open(key), placeOf(binding), Buffer.from(clear.reveal(), 'utf8')),
    );
  }

  open(key: WrappedKey, binding: CredentialBinding, sealed: Buffer): Secret {
    return unlessUnusable(
      () => new Secret(openBytes(this.#open(key), placeOf(binding), sealed).toString('utf8')),
    );
  }

  /** `purpose` says what the text is and whose; it opens only for the very same. */
  sealText(key: WrappedKey, purpose: readonly string[], clear: Secret): Buffer {
    return unlessUnusable(() =>
      sealBytes(this.#open(key), associatedData(purpose), Buffer.from(clear.reveal(), 'utf8')),
    );
  }

  openText(key: WrappedKey, purpose: readonly string[], sealed: Buffer): Secret {
    return unlessUnusable(
      () => new Secret(openBytes(this.#open(key), associatedData(purpose), sealed).toString('utf8')),
    );
  }

  /** The same for bytes. */
  sealOwn(key: WrappedKey, purpose: readonly string[], clear: Buffer): Buffer {
    return unlessUnusable(() => sealBytes(this.#open(key), associatedData(purpose), clear));
  }

  openOwn(key: WrappedKey, purpose: readonly string[], sealed: Buffer): Buffer {
    return unlessUnusable(() => openBytes(this.#open(key), associatedData(purpose), sealed));
  }

  /**
   * Seals bytes that are cheap to lose, by a key that is worked out of the master key for their organization and nothing
   * else: no request is needed for it. `purpose` says what they are and whose; they open only for the very same.
   */
  sealBytes(organizationId: string, purpose: readonly string[], clear: Buffer): Buffer {
    return sealBytes(this.#cheap(organizationId), associatedData(purpose), clear);
  }

  /** Throws for bytes that were not sealed so. */
  openBytes(organizationId: string, purpose: readonly string[], sealed: Buffer): Buffer {
    return openBytes(this.#cheap(organizationId), associatedData(purpose), sealed);
  }

  #cheap(organizationId: string): KeyObject {
    const made = (): KeyObject => {
      const info = associatedData(['gatehouse/cheap bytes', organizationId]);
      return createSecretKey(
        Buffer.from(hkdfSync('sha256', this.#cheapRoot, Buffer.alloc(0), info, KEY_BYTES)),
      );
    };
    return this.#remembered(`cheap:${organizationId}`, made);
  }

  #open({ organizationId, wrapped }: WrappedKey): KeyObject {
    const name = `${organizationId}:${wrapped.toString('base64')}`;
    return this.#remembered(name, () => createSecretKey(this.#unwrap(organizationId, wrapped)));
  }

  #unwrap(organizationId: string, wrapped: Buffer): Buffer {
    const owner = ownerOf(organizationId);
    const other = this.#otherWrappingKey;
    if (!other) return openBytes(this.#wrappingKey, owner, wrapped);
    try {
      return openBytes(this.#wrappingKey, owner, wrapped);
    } catch {
      return openBytes(other, owner, wrapped);
    }
  }

  #remembered(name: string, make: () => KeyObject): KeyObject {
    const known = this.#organizationKeys.get(name);
    if (known) return known;
    const key = make();
    this.#organizationKeys.set(name, key);
    return key;
  }
}

function bytesOf(masterKey: Secret): Buffer {
  const bytes = Buffer.from(masterKey.reveal(), 'base64');
  if (bytes.length !== KEY_BYTES) throw new Error('The master key must be 32 bytes in base64.');
  return bytes;
}

const wrappingKeyOf = (master: Buffer): KeyObject =>
  createSecretKey(derived(master, 'gatehouse/organization-keys'));

/** A key for each use, and another than the one whose check value is in the database, so that no two uses can be related. */
function derived(master: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), use, KEY_BYTES));
}

function ownerOf(organizationId: string): Buffer {
  return associatedData(['organization key', organizationId]);
}

function placeOf(binding: CredentialBinding): Buffer {
  return associatedData([
    'credential',
    binding.organizationId,
    binding.workspaceId,
    binding.virtualKeyId,
    binding.providerId,
    binding.origin,
    String(binding.fieldSetVersion),
  ]);
}

function unlessUnusable<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new AppError('credential_unusable', {}, { cause });
  }
}
