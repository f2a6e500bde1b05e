import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors/app-error.js';
import { associatedData } from './associated-data.js';
import { openBytes, sealBytes } from './sealed-bytes.js';
import { Secret } from '../settings/secret.js';

/** An organization's own key as stored: sealed with the master key. */
export interface WrappedKey {
  readonly organizationId: string;
  readonly wrapped: Buffer;
}

/**
 * The owner and destination of a credential. Sealed credentials open only for the same values, so a ciphertext moved to another row, or a
 * row changed to another host, causes an error and never sends a secret to the wrong destination.
 */
export interface CredentialBinding {
  readonly organizationId: string;
  /** Empty for a credential that the organization's workspaces share. */
  readonly workspaceId: string;
  /** Of the virtual key or the integration. */
  readonly virtualKeyId: string;
  readonly providerId: string;
  /** Scheme, host and port that the credential is for, or empty for the provider's own address. */
  readonly origin: string;
  /** The format version of the sealed fields, so that a later format is never read as an earlier one. */
  readonly fieldSetVersion: number;
}

const KEY_BYTES = 32;
const KEYS_IN_MEMORY = 1000;

/**
 * Seals and opens provider credentials: the master key seals each organization's key, which seals its records.
 *
 * Throws `credential_unusable` for anything that does not open, with a cause that contains no plaintext. Opened organization keys are
 * cached, up to a thousand of the most recently used.
 */
export class SecretBox {
  private readonly wrappingKey: KeyObject;
  private readonly otherWrappingKey: KeyObject | null;
  private readonly cheapRoot: KeyObject;
  private readonly organizationKeys = new LRUCache<string, KeyObject>({ max: KEYS_IN_MEMORY });

  /** Both are 32 bytes in base64. Also opens what `other` sealed: during a master key rotation there are two. */
  constructor(masterKey: Secret, other?: Secret) {
    const bytes = bytesOf(masterKey);
    this.wrappingKey = wrappingKeyOf(bytes);
    this.otherWrappingKey = other ? wrappingKeyOf(bytesOf(other)) : null;
    this.cheapRoot = createSecretKey(derived(bytes, 'gatehouse/cheap-bytes'));
  }

  /** Creates the key of a new organization, sealed for its row. */
  makeOrganizationKey(organizationId: string): WrappedKey {
    const wrapped = sealBytes(this.wrappingKey, ownerOf(organizationId), randomBytes(KEY_BYTES));
    return { organizationId, wrapped };
  }

  /** The same organization key, sealed with the master key, whichever of the two had sealed it. Throws if neither had. */
  rewrap({ organizationId, wrapped }: WrappedKey): WrappedKey {
    const clear = this.unwrap(organizationId, wrapped);
    return { organizationId, wrapped: sealBytes(this.wrappingKey, ownerOf(organizationId), clear) };
  }

  seal(key: WrappedKey, binding: CredentialBinding, clear: Secret): Buffer {
    return unlessUnusable(() =>
      sealBytes(this.unwrapKey(key), placeOf(binding), Buffer.from(clear.reveal(), 'utf8')),
    );
  }

  open(key: WrappedKey, binding: CredentialBinding, sealed: Buffer): Secret {
    return unlessUnusable(
      () => new Secret(openBytes(this.unwrapKey(key), placeOf(binding), sealed).toString('utf8')),
    );
  }

  /** `purpose` identifies the text and its owner; it opens only for the same purpose. */
  sealText(key: WrappedKey, purpose: readonly string[], clear: Secret): Buffer {
    return unlessUnusable(() =>
      sealBytes(this.unwrapKey(key), associatedData(purpose), Buffer.from(clear.reveal(), 'utf8')),
    );
  }

  openText(key: WrappedKey, purpose: readonly string[], sealed: Buffer): Secret {
    return unlessUnusable(
      () => new Secret(openBytes(this.unwrapKey(key), associatedData(purpose), sealed).toString('utf8')),
    );
  }

  /** The same for bytes. */
  sealOwn(key: WrappedKey, purpose: readonly string[], clear: Buffer): Buffer {
    return unlessUnusable(() => sealBytes(this.unwrapKey(key), associatedData(purpose), clear));
  }

  openOwn(key: WrappedKey, purpose: readonly string[], sealed: Buffer): Buffer {
    return unlessUnusable(() => openBytes(this.unwrapKey(key), associatedData(purpose), sealed));
  }

  /**
   * Seals bytes that are cheap to lose, with a key derived from the master key and their organization, so no stored key is read. `purpose`
   * identifies them and their owner; they open only for the same purpose.
   */
  sealBytes(organizationId: string, purpose: readonly string[], clear: Buffer): Buffer {
    return sealBytes(this.cheap(organizationId), associatedData(purpose), clear);
  }

  /** Throws for bytes that were not sealed this way. */
  openBytes(organizationId: string, purpose: readonly string[], sealed: Buffer): Buffer {
    return openBytes(this.cheap(organizationId), associatedData(purpose), sealed);
  }

  private cheap(organizationId: string): KeyObject {
    const made = (): KeyObject => {
      const info = associatedData(['gatehouse/cheap bytes', organizationId]);
      return createSecretKey(
        Buffer.from(hkdfSync('sha256', this.cheapRoot, Buffer.alloc(0), info, KEY_BYTES)),
      );
    };
    return this.remembered(`cheap:${organizationId}`, made);
  }

  private unwrapKey({ organizationId, wrapped }: WrappedKey): KeyObject {
    const name = `${organizationId}:${wrapped.toString('base64')}`;
    return this.remembered(name, () => createSecretKey(this.unwrap(organizationId, wrapped)));
  }

  private unwrap(organizationId: string, wrapped: Buffer): Buffer {
    const owner = ownerOf(organizationId);
    const other = this.otherWrappingKey;
    if (!other) return openBytes(this.wrappingKey, owner, wrapped);
    try {
      return openBytes(this.wrappingKey, owner, wrapped);
    } catch {
      return openBytes(other, owner, wrapped);
    }
  }

  private remembered(name: string, make: () => KeyObject): KeyObject {
    const known = this.organizationKeys.get(name);
    if (known) return known;
    const key = make();
    this.organizationKeys.set(name, key);
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

/** A separate key per use, unrelated to the check value in the database and to other uses. */
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
