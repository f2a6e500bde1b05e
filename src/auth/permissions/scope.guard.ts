import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  FOR_EVERY_CALLER,
  OPEN_TO_EVERYBODY,
  REQUIRED_CALLERS,
  REQUIRED_SCOPES,
} from './access.decorators.js';
import { accessOf, callerOf } from './access.js';
import { type CallersOf, requireCaller } from './callers.js';
import { requireScope } from './require-scope.js';
import type { Scope } from './scopes.js';

/**
 * Lets a caller through that holds the scope which the handler requires, or one of them, and is of a kind that it is for.
 *
 * A handler without a scope is refused to everyone: forgetting the decorator must close the door, not open it.
 */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const handler = context.getHandler();
    const marks = [FOR_EVERY_CALLER, OPEN_TO_EVERYBODY];
    if (marks.some((mark) => this.reflector.get<boolean | undefined>(mark, handler))) return true;
    const scopes = this.reflector.get<readonly Scope[] | undefined>(REQUIRED_SCOPES, handler);
    const [first] = scopes ?? [];
    if (!scopes || !first) throw new Error(`${handler.name} requires no scope.`);
    const caller = callerOf(context);
    accessOf(context.switchToHttp().getRequest()).scopes = scopes;
    requireCaller(caller, this.reflector.get<CallersOf | undefined>(REQUIRED_CALLERS, handler) ?? 'anybody');
    if (!scopes.some((scope) => caller.scopes.has(scope))) requireScope(caller, first);
    return true;
  }
}
