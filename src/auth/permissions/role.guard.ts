import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '../../common/errors/app-error.js';
import { REQUIRED_CALLERS, SESSION_ACTION } from './access.decorators.js';
import { accessOf } from './access.js';
import { type CallersOf, requireCaller } from './callers.js';

/**
 * Admits the callers that the operation is for, whatever their scopes: administrators if the permission tables name them, users of a
 * workspace, or users with a dashboard session. Runs after `ScopeGuard`.
 */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const handler = context.getHandler();
    const access = accessOf(context.switchToHttp().getRequest());
    const callers = this.reflector.get<CallersOf | undefined>(REQUIRED_CALLERS, handler);
    if (callers !== undefined && access.caller) requireCaller(access.caller, callers);
    const action = this.reflector.get<string | undefined>(SESSION_ACTION, handler);
    if (action === undefined) return true;
    access.action = action;
    if (!access.session)
      throw new AppError('forbidden', {
        detail: 'this operation is for users who are signed in to the dashboard',
      });
    return true;
  }
}
