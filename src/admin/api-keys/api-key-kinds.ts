import type { Principal } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';
import type { ApiKeyKind } from '../../common/crypto/api-key-format.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';

/** Differences between the kinds of key: the secret's format, the resource in scopes, and the column of the scope catalogue. */
interface KindOfKey {
  readonly format: ApiKeyKind;
  readonly scopes: 'organisation_service_api_keys' | 'workspace_service_api_keys' | 'workspace_user_api_keys';
  readonly offer: 'admin' | 'service' | 'user';
}

export const KINDS: Readonly<Record<ApiKeyType, KindOfKey>> = {
  'organisation-service': { format: 'admin', scopes: 'organisation_service_api_keys', offer: 'admin' },
  'workspace-service': { format: 'ws', scopes: 'workspace_service_api_keys', offer: 'service' },
  'workspace-user': { format: 'user', scopes: 'workspace_user_api_keys', offer: 'user' },
};

export type KeyVerb = 'create' | 'delete' | 'list' | 'read' | 'rotate' | 'update';

/** The scope that an operation on a kind of key requires. */
export function scopeOf(kind: ApiKeyType, verb: KeyVerb): Scope {
  return `${KINDS[kind].scopes}.${verb}`;
}

/** The kinds of key on which a caller can perform an operation. */
export function kindsFor(caller: Principal, verb: KeyVerb): ApiKeyType[] {
  return (Object.keys(KINDS) as ApiKeyType[]).filter((kind) => caller.scopes.has(scopeOf(kind, verb)));
}
