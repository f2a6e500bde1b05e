import type { ExecutionContext } from '@nestjs/common';
import type { KnownSession } from '../ports.js';
import type { Principal } from '../principal.js';
import type { Scope } from './scopes.js';

/** What the guards found out about a request. They fill it in their order, so a refusal leaves it half full. */
export interface Access {
  caller?: Principal;
  /** The session that identified the caller. */
  session?: KnownSession;
  /** For the audit record of a handler that requires no scope. */
  action?: string;
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

/** The session of the caller, behind `SessionGuard`. */
export function sessionOf(context: ExecutionContext): KnownSession {
  const { session } = accessOf(context.switchToHttp().getRequest());
  if (!session) throw new Error('The session was asked for before SessionGuard had run.');
  return session;
}

/** The caller, behind AuthGuard. */
export function callerOf(context: ExecutionContext): Principal {
  const { caller } = accessOf(context.switchToHttp().getRequest());
  if (!caller) throw new Error('The caller was asked for before AuthGuard had run.');
  return caller;
}
