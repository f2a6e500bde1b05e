import type { ApiKey } from '../../api/keys';

const RESOURCES: Readonly<Record<ApiKey['type'], string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
};

/** The permission that an action on a kind of key needs. */
export const scopeOfKey = (
  type: ApiKey['type'],
  action: 'create' | 'delete' | 'list' | 'rotate' | 'update',
): string => `${RESOURCES[type]}.${action}`;
