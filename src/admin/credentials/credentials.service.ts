import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { type BoundKey, credentialBindingOf } from '../../common/crypto/credential-binding.js';
import { WORKLOAD_IDENTITY } from '../../providers/auth-scheme.js';
import { Organization } from '../tenancy/organization.entity.js';
import { fieldError } from '../../common/errors/field-errors.js';
import { AppError } from '../../common/errors/app-error.js';
import { WorkloadIdentity } from '../../external-credentials/workload-identity/workload-identity.js';
import { Egress } from '../../egress/egress.js';
import {
  checkSecret,
  type Destination,
  providerOf,
  readDestination,
  type RequestedDestination,
} from './destination-of-key.js';

export type { Destination, RequestedDestination } from './destination-of-key.js';

/** The destination of a row's credential, as stored. */
export interface StoredDestination {
  readonly providerId: string;
  readonly customHost: string | null;
  readonly fields: Record<string, string>;
  readonly sealedCredentials: Buffer | null;
}

/** Changes to a destination: omitted fields stay. */
export interface DestinationChange extends Partial<RequestedDestination> {
  readonly key?: string | undefined;
  /** The request names the secret references again, so that their secrets may be sent to another destination. */
  readonly isMappedAgain?: boolean | undefined;
}

/** A changed destination, and whether its credential must be sealed again. */
export interface ChangedDestination extends Destination {
  readonly isResealed: boolean;
}

/** Checks the destination of a stored credential, and seals the credential for that destination only. */
@Injectable()
export class CredentialsService {
  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly egress: Egress,
    private readonly identity: WorkloadIdentity,
  ) {}

  /** For a new credential. Throws like `readDestination`, `credential_required` and `workload_identity_refused`. */
  read(requested: RequestedDestination, secret: string | undefined): Destination {
    const destination = readDestination(requested, this.egress);
    const { provider } = destination;
    if (needsNoKey(requested, destination)) {
      checkNoKey(secret);
      return destination;
    }
    checkSecret(
      secret,
      provider,
      `The field "key" is missing: it holds your API key for the provider "${provider.id}".`,
    );
    return destination;
  }

  /**
   * Provider, host, fields and secret belong together. Changing the provider or the host, also by a field that is a part of it, requires the
   * secret again, so that it cannot be sent to a destination it was not entered for.
   */
  change(stored: StoredDestination, changed: DestinationChange): ChangedDestination {
    const destination = readDestination(wantedAfter(stored, changed), this.egress);
    const { provider } = destination;
    const isElsewhere =
      provider.id !== stored.providerId || hostOf(destination) !== hostOf({ ...stored, provider });
    if (isElsewhere) checkMappedAgain(changed);
    const isKeyless = needsNoKey(changed, destination);
    const hasKeyless = stored.sealedCredentials === null;
    const isResealed = isElsewhere || changed.key !== undefined || isKeyless !== hasKeyless;
    if (isKeyless) checkNoKey(changed.key);
    else if (isResealed) checkSecret(changed.key, provider, SECRET_AGAIN);
    return { ...destination, isResealed };
  }

  /**
   * Throws `workload_identity_refused` for a destination that uses the machine's identity without the operator's permission, and
   * `invalid_request` if its tokens would go to a custom host.
   */
  checkIdentity(organizationId: string, { fields, customHost }: Destination): void {
    if (fields[WORKLOAD_IDENTITY] === undefined) return;
    this.identity.checkAllowed(organizationId);
    if (customHost !== null)
      throw fieldError(
        'custom_host',
        "cannot be combined with the machine's identity, whose tokens go to the cloud only",
      );
  }

  /** Sealed under the organization's key. Null when there is no secret, as for a provider that needs none. */
  async seal(key: BoundKey, secret: string | undefined): Promise<Buffer | null> {
    if (secret === undefined) return null;
    return this.box.seal(await this.keyOf(key), credentialBindingOf(key), new Secret(secret));
  }

  /** The same secret for another row with the same destination, which the caller must have verified. */
  async sealAgain(
    from: BoundKey & { readonly sealedCredentials: Buffer | null },
    to: BoundKey,
  ): Promise<Buffer | null> {
    if (from.sealedCredentials === null) return null;
    const key = await this.keyOf(from);
    const secret = this.box.open(key, credentialBindingOf(from), from.sealedCredentials);
    return this.box.seal(key, credentialBindingOf(to), secret);
  }

  /** The secret itself, to be sent to its own destination. Null without one. */
  async open(key: BoundKey & { readonly sealedCredentials: Buffer | null }): Promise<Secret | null> {
    if (key.sealedCredentials === null) return null;
    return this.box.open(await this.keyOf(key), credentialBindingOf(key), key.sealedCredentials);
  }

  /** The destination of a stored credential. */
  stored({ providerId, customHost, fields }: Omit<StoredDestination, 'sealedCredentials'>): Destination {
    return { provider: providerOf(providerId), customHost, fields };
  }

  private async keyOf({ organizationId }: BoundKey) {
    const { wrappedKey: wrapped } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped };
  }
}

/** The key comes from a secret reference, or the machine's identity stands for it. */
const needsNoKey = ({ mapped }: Pick<RequestedDestination, 'mapped'>, { fields }: Destination): boolean =>
  mapped?.has('key') === true || fields[WORKLOAD_IDENTITY] !== undefined;

/** The destination of a row after a change. */
const wantedAfter = (stored: StoredDestination, changed: DestinationChange): RequestedDestination => ({
  provider: changed.provider ?? stored.providerId,
  customHost: changed.customHost === undefined ? stored.customHost : changed.customHost,
  fields: changed.fields ?? stored.fields,
  sentAs: changed.sentAs,
  mapped: changed.mapped,
});

function checkMappedAgain({ mapped, isMappedAgain }: DestinationChange): void {
  if (mapped === undefined || mapped.size === 0 || isMappedAgain) return;
  throw new AppError('credential_required', { detail: MAPPINGS_AGAIN, parameter: 'secret_mappings' });
}

function checkNoKey(key: string | undefined): void {
  if (key !== undefined)
    throw fieldError(
      'key',
      "cannot be combined with the machine's identity or with a secret reference for the key",
    );
}

const MAPPINGS_AGAIN =
  'A change of provider or custom host needs the secret references again. Send them in the field "secret_mappings".';
const SECRET_AGAIN =
  'A change of provider, custom host or secret reference needs the provider\'s key again. Send it in the field "key".';

/** Base URLs name their host before the first slash after the scheme: `https://{resource}.openai.azure.com/openai`. */
const HOST = /^https?:\/\/[^/]*/;
const FIELD = /\{([^}]+)\}/g;

/** The host that a credential is sent to: a custom one, or that of the provider with the fields in it. */
function hostOf({ provider, customHost, fields }: Destination): string {
  const [host = ''] = HOST.exec(provider.baseUrl ?? '') ?? [];
  return customHost ?? host.replaceAll(FIELD, (_, name: string) => fields[name] ?? '');
}
