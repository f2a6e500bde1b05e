import { AppError } from '../../common/errors/app-error.js';
import type { Principal } from '../principal.js';
import type { Scope } from '../scopes.js';

/** Refuses with `forbidden`, naming the scope, a caller without it. */
export function requireScope(caller: Principal, scope: Scope): void {
  if (!caller.scopes.has(scope)) throw new AppError('forbidden', { detail: `it needs the scope "${scope}"` });
}
