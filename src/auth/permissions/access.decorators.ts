import {
  applyDecorators,
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { accessOf, callerOf, sessionOfRequest } from './access.js';
import type { CallersOf } from './callers.js';
import type { Scope } from '../scopes.js';

export const REQUIRED_SCOPES = 'gatehouse:required-scopes';
export const REQUIRED_CALLERS = 'gatehouse:required-callers';

/**
 * The scope that this handler requires, and its action in the audit record. `callers`: if the permission tables name kinds of callers, the
 * kinds that may call at all, whatever their scopes.
 */
export const RequireScope = (scope: Scope, callers: CallersOf = 'anybody'): MethodDecorator =>
  applyDecorators(RequireOneOf(scope), SetMetadata(REQUIRED_CALLERS, callers));

/**
 * For a handler whose scope depends on the resource, such as the kind of a key: a caller with none of these is refused, and the service
 * then requires the exact one with `requireScope`.
 */
export const RequireOneOf = (...scopes: readonly [Scope, ...Scope[]]): MethodDecorator =>
  applyDecorators(SetMetadata(REQUIRED_SCOPES, scopes), ApiExtension('x-scopes', scopes));

export const FOR_EVERY_CALLER = 'gatehouse:for-every-caller';

/** For a handler that only shows callers their own data: identification suffices. */
export const ForEveryCaller = (): CustomDecorator => SetMetadata(FOR_EVERY_CALLER, true);

export const SESSION_ACTION = 'gatehouse:session-action';

/** For a handler about the caller's own session or sign-in. Refuses API keys and signed tokens. `action`: for the audit record. */
export const ForSession = (action: string): MethodDecorator =>
  applyDecorators(ForEveryCaller(), SetMetadata(SESSION_ACTION, action), ApiExtension('x-for-session', true));

export const OPEN_TO_EVERYBODY = 'gatehouse:open-to-everybody';

/** For a handler with public information: no caller is identified and no scope is needed. */
export const OpenToEverybody = (): MethodDecorator => SetMetadata(OPEN_TO_EVERYBODY, true);

export const AUDITED_AS = 'gatehouse:audited-as';

/** The action in the audit record, `resource.verb`, of a handler whose scope names another resource or verb. */
export const AuditedAs = (action: string): CustomDecorator => SetMetadata(AUDITED_AS, action);

export const RECORDED = 'gatehouse:recorded';

/** For reads that leave an audit record, because data leaves the system. */
export const Recorded = (): CustomDecorator => SetMetadata(RECORDED, true);

/** The principal that AuthGuard identified. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context));

/** The caller's session, in a handler that is `ForSession`. */
export const CallerSession = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOfRequest(context),
);

/** Id of the caller's session; null for API keys and signed tokens. */
export const CallerSessionId = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | null =>
    accessOf(context.switchToHttp().getRequest()).session?.id ?? null,
);
