import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { aCaller, aHandler, executing } from '../../../test/support/access.js';
import { RequireOneOf, RequireScope } from './access.decorators.js';
import type { KnownSession } from '../ports.js';
import { accessOf } from './access.js';
import { ScopeGuard } from './scope.guard.js';

describe('ScopeGuard', () => {
  const guard = new ScopeGuard(new Reflector());
  const creating = aHandler(RequireScope('virtual_keys.create'));
  const reading = aHandler(RequireOneOf('workspace_service_api_keys.read', 'workspace_user_api_keys.read'));

  it('lets a caller through that holds the scope', () => {
    expect(guard.canActivate(executing(creating, aCaller({ scopes: ['virtual_keys.create'] })))).toBe(true);
  });

  it('refuses a caller without the scope, and names it', () => {
    const context = executing(creating, aCaller({ scopes: ['virtual_keys.list', 'logs.view'] }));

    expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(() => guard.canActivate(context)).toThrow('"virtual_keys.create"');
  });

  it('lets a caller through that holds one of several scopes', () => {
    expect(guard.canActivate(executing(reading, aCaller({ scopes: ['workspace_user_api_keys.read'] })))).toBe(
      true,
    );
    expect(() => guard.canActivate(executing(reading, aCaller({ scopes: ['logs.view'] })))).toThrow(
      'it needs the scope',
    );
  });

  it('requires a session with several workspaces to name one', () => {
    const context = executing(creating, aCaller({ kind: 'person', scopes: [] }));
    accessOf(context.switchToHttp().getRequest()).session = { needsWorkspace: true } as KnownSession;

    expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'workspace_required' }));
  });

  it('refuses a handler that declares no scope', () => {
    expect(() => guard.canActivate(executing(aHandler(), aCaller({ scopes: ['logs.view'] })))).toThrow(
      'requires no scope',
    );
  });

  it('refuses callers that AuthGuard has not authenticated', () => {
    expect(() => guard.canActivate(executing(creating))).toThrow('before AuthGuard');
  });

  it('leaves a note of the scopes for the audit trail, also when it refuses', () => {
    const context = executing(creating, aCaller());

    expect(() => guard.canActivate(context)).toThrow();
    expect(accessOf(context.switchToHttp().getRequest()).scopes).toEqual(['virtual_keys.create']);
  });
});
