import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AUDITED_AS, FOR_EVERY_CALLER, OPEN_TO_EVERYBODY, REQUIRED_SCOPES } from './access.decorators.js';
import { AppError } from '../../common/errors/app-error.js';
import { accessOf, callerOf } from './access.js';
import { requireScope } from './require-scope.js';
import type { Scope } from '../scopes.js';

/**
 * Admits callers with the scope that the handler requires, or one of them.
 *
 * A handler without a scope is refused for everyone: forgetting the decorator must deny access, not grant it.
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
    const access = accessOf(context.switchToHttp().getRequest());
    access.scopes = scopes;
    const action = this.reflector.get<string | undefined>(AUDITED_AS, handler);
    if (action !== undefined) access.action = action;
    if (access.session?.needsWorkspace) throw new AppError('workspace_required');
    if (!scopes.some((scope) => caller.scopes.has(scope))) requireScope(caller, first);
    return true;
  }
}
