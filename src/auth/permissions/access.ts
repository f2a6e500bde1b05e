import type { ExecutionContext } from '@nestjs/common';
import type { KnownSession } from '../ports.js';
import type { Principal } from '../principal.js';
import type { Scope } from '../scopes.js';

/** The guards' findings about a request. They fill it in order, so it stays incomplete after a refusal. */
export interface Access {
  caller?: Principal;
  /** The session that identified the caller. */
  session?: KnownSession;
  /** For the audit record, if the scope does not name it. */
  action?: string;
  /** The caller must have one of these. */
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

/** The caller's session, after `SessionGuard`. */
export function sessionOf(context: ExecutionContext): KnownSession {
  const { session } = accessOf(context.switchToHttp().getRequest());
  if (!session) throw new Error('The session was asked for before SessionGuard had run.');
  return session;
}

/** The caller, after AuthGuard. */
export function callerOf(context: ExecutionContext): Principal {
  const { caller } = accessOf(context.switchToHttp().getRequest());
  if (!caller) throw new Error('The caller was asked for before AuthGuard had run.');
  return caller;
}
