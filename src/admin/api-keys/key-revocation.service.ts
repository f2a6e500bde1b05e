import { Injectable } from '@nestjs/common';
import { type FindOptionsWhere, IsNull } from 'typeorm';
import { ApiKey } from './api-key.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** What must be kept of a key when its user or its workspace is deleted: its organization. */
export type KeysOf = FindOptionsWhere<ApiKey> & { readonly organizationId: string };

/**
 * Revokes keys in bulk, because their user or their workspace is deleted. The caller publishes the change of that
 * user or workspace, on which every process drops all its cached keys.
 */
@Injectable()
export class KeyRevocationService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** With the hashes gone, no query can find a key by its secret any more. Answers how many there were. */
  async revoke(keys: KeysOf): Promise<number> {
    const { affected } = await this.unitOfWork.repository(ApiKey).update(
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

  /** Lets revoked keys, whose rows stay, let go of what is about to be deleted. */
  async release(keys: KeysOf, of: { readonly userId: null } | { readonly workspaceId: null }): Promise<void> {
    await this.unitOfWork.repository(ApiKey).update(keys, of);
  }
}
