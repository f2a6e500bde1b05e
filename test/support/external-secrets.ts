import { MappedCredentials } from '../../src/adapters/directories/mapped-credentials.js';
import { SecretValues, type SecretValuesOptions } from '../../src/adapters/directories/secret-values.js';
import type { SecretBox } from '../../src/common/crypto/envelope.js';
import type { SecretManager } from '../../src/external-credentials/secret-managers/secret-location.js';

const NO_MANAGER: SecretManager = {
  read: () => Promise.reject(new Error('This test has no secret manager.')),
};

/** Credentials from secret references as a gateway process completes them. */
export function mappedCredentials(
  box: SecretBox,
  manager: SecretManager = NO_MANAGER,
  options: Partial<SecretValuesOptions> = {},
): MappedCredentials {
  return new MappedCredentials(
    new SecretValues(manager, box, { ttlMs: 300_000, staleMs: 86_400_000, ...options }),
  );
}
