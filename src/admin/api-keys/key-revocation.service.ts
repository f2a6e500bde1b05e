import { Injectable } from '@nestjs/common';
import { type FindOptionsWhere, IsNull } from 'typeorm';
import { ApiKey } from './api-key.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** What of a key must not be lost sight of when its person or its workspace goes: its organization. */
export type KeysOf = FindOptionsWhere<ApiKey> & { readonly organizationId: string };

/**
 * Revokes keys by the number, because their person or their workspace goes. Who calls it publishes the change of that
 * person or workspace, on which every process forgets all keys that it knows.
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
