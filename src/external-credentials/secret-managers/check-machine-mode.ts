import type { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import type { AuthMode } from './manager-table.js';

/**
 * Checks a mode that uses the identity of the machine. Throws `workload_identity_refused` without the operator's permission for the
 * organization, and `workload_identity_address_refused` if its tokens would go to an address that a tenant chose.
 */
export function checkMachineMode(
  identity: Pick<WorkloadIdentity, 'checkAllowed' | 'checkAddress'>,
  organizationId: string,
  { mode, auth }: { readonly mode: AuthMode | undefined; readonly auth: Readonly<Record<string, string>> },
): void {
  if (!mode?.usesMachineIdentity) return;
  identity.checkAllowed(organizationId);
  for (const { name, isAddress, ofCloud } of mode.fields) {
    const address = auth[name];
    if (isAddress && address !== undefined && !ofCloud?.test(address)) identity.checkAddress(address);
  }
}
