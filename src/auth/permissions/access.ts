import type { ExecutionContext } from '@nestjs/common';
import type { Principal } from '../principal.js';
import type { Scope } from './scopes.js';

/** What the guards found out about a request. They fill it in their order, so a refusal leaves it half full. */
export interface Access {
  caller?: Principal;
  /** Of these the caller must hold one. */
  scopes?: readonly Scope[];
}

const ACCESS = new WeakMap<object, Access>();

/** Lives as long as the request object of the web server. */
export function accessOf(request: object): Access {
  const known = ACCESS.get(request);
  if (known) return known;
  const access: Access = {};
  ACCESS.set(request, access);
  return access;
}

/** Who is calling, behind AuthGuard. */
export function callerOf(context: ExecutionContext): Principal {
  const { caller } = accessOf(context.switchToHttp().getRequest());
  if (!caller) throw new Error('The caller was asked for before AuthGuard had run.');
  return caller;
}
