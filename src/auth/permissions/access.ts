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
  /** The stored hash of the password that the caller has just repeated. A change of the password replaces this one only. */
  verifiedPasswordHash?: string;
}

/** A property of the request object of the web server, as `user` is for Passport. */
export function accessOf(request: object): Access {
  return ((request as { access?: Access }).access ??= {});
}

/** The caller's session, after `SessionGuard`. */
export function sessionOfRequest(context: ExecutionContext): KnownSession {
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
