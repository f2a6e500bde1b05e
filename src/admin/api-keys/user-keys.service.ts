import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';
import { ApiKeyIssuer } from '../../common/crypto/api-key-issuer.js';
import type { Secret } from '../../common/settings/secret.js';
import { ApiKey } from './api-key.entity.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { KeyBoundsService } from './key-bounds.service.js';
import { checkGrant, readScopes } from './grants.js';

export interface PromisedKey {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly userId: string;
  /** The user or key that promised it. */
  readonly createdByUserId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Keys that one user promises to another, as with an invite. */
@Injectable()
export class UserKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly issuer: ApiKeyIssuer,
    private readonly bounds: KeyBoundsService,
  ) {}

  /** Rejects for scopes that are unknown, that such a key cannot have, or that the caller may not grant. */
  async promise(caller: Principal, names: readonly string[]): Promise<Scope[]> {
    const scopes = readScopes(names, 'workspace-user');
    checkGrant(caller, scopes);
    await this.bounds.check(caller, 'create keys');
    return scopes;
  }

  async make({ scopes, ...key }: PromisedKey): Promise<{ readonly id: string; readonly secret: Secret }> {
    const { secret, stored } = this.issuer.issue('user');
    const id = uuidV7(Date.now());
    await this.apiKeys.insert({
      id,
      ...key,
      kind: 'workspace-user',
      createdByKeyId: null,
      creationMode: 'auto',
      scopes: [...scopes],
      status: 'active',
      ...stored,
    });
    return { id, secret };
  }
}
