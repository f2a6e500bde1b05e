import type { Principal } from '../../auth/principal.js';
import { missingGrant } from '../../auth/permissions/missing-grant.js';
import { isScope, type Scope, SCOPES } from '../../auth/scopes.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { KINDS } from './api-key-kinds.js';

const LONGEST_SHOWN = 64;

/** Reads scopes as named by a client: exactly as in the catalogue, no wildcards, no duplicates, all available to that kind of key. */
export function readScopes(names: readonly string[], kind: ApiKeyType): Scope[] {
  return [...new Set(names.map((name) => known(name, kind)))].sort();
}

/** Refuses with `forbidden`, naming the first scope that the caller may not grant. No key can grant more than its creator has. */
export function checkGrant(caller: Principal, scopes: readonly Scope[]): void {
  const missing = missingGrant(caller, scopes);
  if (missing !== undefined)
    throw new AppError('forbidden', {
      detail: `it cannot grant the scope "${missing}", which it does not have itself`,
    });
}

function known(name: string, kind: ApiKeyType): Scope {
  if (!isScope(name)) throw unknownScope(name.slice(0, LONGEST_SHOWN));
  if (!SCOPES[name][KINDS[kind].offer])
    throw new AppError('invalid_request', {
      detail: `Keys of the type "${kind}" cannot have the scope "${name}". ${otherTypes(name)}`,
    });
  return name;
}

function otherTypes(scope: Scope): string {
  const types = Object.entries(KINDS).filter(([, { offer }]) => SCOPES[scope][offer]);
  if (types.length === 0) return 'No type can have it.';
  return `Create a key of the type ${types.map(([type]) => `"${type}"`).join(' or ')} for it.`;
}

/** A scope is a resource and an action, such as "logs.list": without a similar scope, the error names those of the resource. */
function unknownScope(scope: string): AppError {
  const known = Object.keys(SCOPES);
  const near = didYouMean(scope, known);
  const [resource = ''] = scope.split('.', 1);
  const ofResource = known.filter((name) => name.startsWith(`${resource}.`));
  const hint = near === '' && ofResource.length > 0 ? `; "${resource}" has ${ofResource.join(', ')}` : near;
  return new AppError('scope_unknown', { scope, hint });
}
