import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiKeysQuery } from '../api/keys';
import { useMay, usePlace } from './session';

/** Any of them allows listing keys. */
const LIST_SCOPES = [
  'workspace_service_api_keys.list',
  'workspace_user_api_keys.list',
  'organisation_service_api_keys.list',
];

/** Names of the workspace's API keys by id, if the user may see them. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { workspace } = usePlace();
  const may = useMay();
  const { data } = useQuery({ ...apiKeysQuery(workspace.slug), enabled: LIST_SCOPES.some(may) });
  return useMemo(() => new Map(data?.data.map(({ id, name }) => [id, name])), [data]);
}
