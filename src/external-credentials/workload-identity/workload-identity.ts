import { AppError } from '../../common/errors/app-error.js';
import type { AwsCredentials } from '../tokens/sigv4.js';

/** Organizations that may use the identity of the machine: all of them, or those with these ids. */
export type AllowedOrganizations = 'all' | ReadonlySet<string>;

/**
 * The identity of the machine that runs the gateway, at the three large clouds. It belongs to the operator, so an organization may use it
 * only if the operator allows that. Each method throws `workload_identity_refused` otherwise,
 * and rejects with `upstream_error` or `credential_unusable` if the machine has no identity.
 */
export abstract class WorkloadIdentity {
  /** `addresses`: origins of secret managers that the operator trusts with the identity, besides services of the clouds. */
  constructor(
    private readonly allowed: AllowedOrganizations,
    private readonly addresses: ReadonlySet<string> = new Set(),
  ) {}

  /** Keys of the machine's role. */
  abstract aws(organizationId: string): AwsCredentials | Promise<AwsCredentials>;
  /** An access token for Google Cloud. */
  abstract google(organizationId: string): string | Promise<string>;
  /** An access token of Entra ID. `clientId`: a user-assigned identity instead of the machine's own. */
  abstract azure(organizationId: string, scope: string, clientId?: string): string | Promise<string>;

  isAllowed(organizationId: string): boolean {
    return this.allowed === 'all' || this.allowed.has(organizationId);
  }

  /**
   * Whoever receives a token of the machine can use it elsewhere, so it is sent only to an address that the operator names. Throws
   * `workload_identity_address_refused` for another one.
   */
  checkAddress(address: string): void {
    const { origin } = new URL(address);
    if (!this.addresses.has(origin))
      throw new AppError('workload_identity_address_refused', { address: origin });
  }

  /** Throws `workload_identity_refused` unless the operator allows it. */
  checkAllowed(organizationId: string): void {
    if (!this.isAllowed(organizationId)) throw new AppError('workload_identity_refused');
  }
}
