import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import type { CreateGuardrailDto } from './guardrail.dto.js';
import type { Place } from './guardrails.service.js';

/** The workspace that is named, the caller's own, or with `organisation_id` every one of the organization. */
export async function placeFor(
  caller: Principal,
  { workspace_id, organisation_id }: CreateGuardrailDto,
  workspaces: WorkspaceFinder,
): Promise<Place> {
  if (organisation_id === undefined || workspace_id !== undefined)
    return workspaces.tenantFor(caller, workspace_id);
  const { organizationId } = caller;
  if (organisation_id.toLowerCase() !== organizationId)
    throw new AppError('not_found', { resource: 'organization' });
  return { organizationId, workspaceId: null };
}
