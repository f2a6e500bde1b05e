import { useNamesOfKeys } from '../api/key-use';
import { useMay } from './session';

/** Any of them allows listing keys. */
const LIST_SCOPES = [
  'workspace_service_api_keys.list',
  'workspace_user_api_keys.list',
  'organisation_service_api_keys.list',
];

/** Names of these API keys by id, if the user may see them. */
export function useKeyNames(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const may = useMay();
  const known = ids.filter((id): id is string => id !== null && id !== '');
  return useNamesOfKeys(known, LIST_SCOPES.some(may));
}
