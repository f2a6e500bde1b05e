import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import { accessOf } from '../../src/auth/permissions/access.js';
import type { Principal } from '../../src/auth/principal.js';
import type { Scope } from '../../src/auth/scopes.js';

type CallerWish = Partial<Omit<Principal, 'scopes'>> & { readonly scopes?: readonly Scope[] };

export function aCaller({ scopes = [], ...more }: CallerWish = {}): Principal {
  return {
    kind: 'workspace_service_key',
    apiKeyId: randomUUID(),
    name: 'A key',
    organizationId: randomUUID(),
    workspaceId: randomUUID(),
    userId: null,
    authorityId: null,
    policy: null,
    ...more,
    scopes: new Set(scopes),
  };
}

/** A controller's handler, decorated. */
export function aHandler(...decorators: readonly MethodDecorator[]): () => void {
  const handler = (): void => undefined;
  for (const decorate of decorators) decorate({}, 'handler', { value: handler });
  return handler;
}

/** The moment at which a handler is about to run for a caller. */
export function executing(handler: () => void, caller?: Principal): ExecutionContext {
  const request = {};
  if (caller) accessOf(request).caller = caller;
  return {
    getHandler: () => handler,
    getClass: () => Object,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
}
