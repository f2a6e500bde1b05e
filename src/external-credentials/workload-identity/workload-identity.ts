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
  constructor(private readonly allowed: AllowedOrganizations) {}

  /** Keys of the machine's role. */
  abstract aws(organizationId: string): AwsCredentials | Promise<AwsCredentials>;
  /** An access token for Google Cloud. */
  abstract google(organizationId: string): string | Promise<string>;
  /** An access token of Entra ID. `clientId`: a user-assigned identity instead of the machine's own. */
  abstract azure(organizationId: string, scope: string, clientId?: string): string | Promise<string>;

  isAllowed(organizationId: string): boolean {
    return this.allowed === 'all' || this.allowed.has(organizationId);
  }

  /** Throws `workload_identity_refused` unless the operator allows it. */
  checkAllowed(organizationId: string): void {
    if (!this.isAllowed(organizationId)) throw new AppError('workload_identity_refused');
  }
}
