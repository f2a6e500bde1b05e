import type { ManagerType } from './manager-table.js';
import { modeOf } from './manager-table.js';

/** What the secret fields of a reference are sealed for. */
export interface SealedAuth {
  readonly id: string;
  readonly organizationId: string;
  readonly manager: ManagerType;
  readonly auth: Readonly<Record<string, string>>;
}

/** They open only for the same reference, manager, mode and address, so that they cannot be sent to another one. */
export function authPurpose({ id, organizationId, manager, auth }: SealedAuth): string[] {
  const mode = modeOf(manager, auth);
  const addresses = (mode?.fields ?? [])
    .filter(({ isAddress }) => isAddress)
    .map(({ name }) => auth[name] ?? '');
  return ['secret reference', organizationId, id, manager, mode?.chosenBy?.value ?? '', ...addresses];
}
