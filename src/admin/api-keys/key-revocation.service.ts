import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, IsNull, type Repository } from 'typeorm';
import { ApiKey } from './api-key.entity.js';

/** Selects the keys of a user or workspace that is being deleted, always within one organization. */
export type KeysOf = FindOptionsWhere<ApiKey> & { readonly organizationId: string };

/**
 * Revokes keys in bulk, because their user or their workspace is deleted. The caller publishes the change of that
 * user or workspace, on which every process drops all its cached keys.
 */
@Injectable()
export class KeyRevocationService {
  constructor(@InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>) {}

  /** Without the hashes, no query can find a key by its secret. Returns how many there were. */
  async revoke(keys: KeysOf): Promise<number> {
    const { affected } = await this.apiKeys.update(
      { ...keys, deletedAt: IsNull() },
      {
        revokedKeyHash: () => 'key_hash',
        keyHash: null,
        previousKeyHash: null,
        previousKeyExpiresAt: null,
        deletedAt: new Date(),
      },
    );
    return affected ?? 0;
  }

  /** Removes references to what is about to be deleted from revoked keys, whose rows stay. */
  async release(keys: KeysOf, of: { readonly userId: null } | { readonly workspaceId: null }): Promise<void> {
    await this.apiKeys.update(keys, of);
  }
}
