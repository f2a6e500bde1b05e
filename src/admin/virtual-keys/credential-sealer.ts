import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/crypto/secret.js';
import { Organization } from '../../common/database/entities/organization.entity.js';
import { type BoundKey, credentialBindingOf } from '../../common/database/credential-binding.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';

/** Seals the secret of a virtual key under its organization's key, bound to the place that it may be sent to. */
@Injectable()
export class CredentialSealer {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly box: SecretBox,
  ) {}

  /** Null when there is no secret, as for a provider that asks for none. */
  async seal(key: BoundKey, secret: string | undefined): Promise<Buffer | null> {
    if (secret === undefined) return null;
    const { organizationId } = key;
    const { wrappedKey: wrapped } = await this.unitOfWork
      .repository(Organization)
      .findOneByOrFail({ id: organizationId });
    return this.box.seal({ organizationId, wrapped }, credentialBindingOf(key), new Secret(secret));
  }
}
