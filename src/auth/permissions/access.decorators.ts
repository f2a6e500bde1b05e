import {
  applyDecorators,
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import { accessOf, callerOf, sessionOf } from './access.js';
import type { CallersOf } from './callers.js';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPES = 'gatehouse:required-scopes';
export const REQUIRED_CALLERS = 'gatehouse:required-callers';

/**
 * The scope that opens this handler, and the action in the audit record. `callers`: where the permission tables speak of
 * kinds of callers, the kinds that may call at all, whatever scopes they hold.
 */
export const RequireScope = (scope: Scope, callers: CallersOf = 'anybody'): MethodDecorator =>
  applyDecorators(SetMetadata(REQUIRED_SCOPES, [scope]), SetMetadata(REQUIRED_CALLERS, callers));

/**
 * For a handler whose scope depends on what it finds, such as the kind of a key: a caller with none of these is refused,
 * and the service then requires the exact one with `requireScope`.
 */
export const RequireOneOf = (first: Scope, ...others: readonly Scope[]): CustomDecorator =>
  SetMetadata(REQUIRED_SCOPES, [first, ...others]);

export const FOR_EVERY_CALLER = 'gatehouse:for-every-caller';

/** For a handler that shows callers nothing but what is their own: identified is enough. */
export const ForEveryCaller = (): CustomDecorator => SetMetadata(FOR_EVERY_CALLER, true);

export const SESSION_ACTION = 'gatehouse:session-action';

/** For a handler about the caller's own session or sign-in. API keys and signed tokens are refused. `action`: for the audit record. */
export const ForSession = (action: string): MethodDecorator =>
  applyDecorators(ForEveryCaller(), SetMetadata(SESSION_ACTION, action));

export const OPEN_TO_EVERYBODY = 'gatehouse:open-to-everybody';

/** For a handler with public information: no caller is identified and no scope is needed. */
export const OpenToEverybody = (): MethodDecorator => SetMetadata(OPEN_TO_EVERYBODY, true);

export const RECORDED = 'gatehouse:recorded';

/** For reading that is worth an audit record, because what is read leaves the house. */
export const Recorded = (): CustomDecorator => SetMetadata(RECORDED, true);

/** The principal that AuthGuard identified. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context));

/** The session that the caller comes with, in a handler that is `ForSession`. */
export const CallerSession = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOf(context),
);

/** Id of the session that the caller comes with; null for API keys and signed tokens. */
export const CallerSessionId = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | null =>
    accessOf(context.switchToHttp().getRequest()).session?.id ?? null,
);
