import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';

/** A request may name the caller's own organization. Any other is "not found", whether it exists or not. */
export function checkOrganization({ organizationId }: Principal, named: string | undefined): void {
  if (named !== undefined && named.toLowerCase() !== organizationId)
    throw new AppError('not_found', { resource: 'organisation' });
}
