import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { aCaller, aHandler, executing } from '../../../test/support/access.js';
import type { KnownSession } from '../ports.js';
import { ForSession, RequireScope } from './access.decorators.js';
import { accessOf } from './access.js';
import { RoleGuard } from './role.guard.js';

describe('RoleGuard', () => {
  const guard = new RoleGuard(new Reflector());

  it('keeps out callers of a kind that an operation is not for, whatever scopes they hold', () => {
    const managing = aHandler(RequireScope('workspaces.update', 'administrators'));
    const rating = aHandler(RequireScope('logs.write', 'workspace'));
    const scopes = ['workspaces.update', 'logs.write'] as const;

    expect(guard.canActivate(executing(managing, aCaller({ kind: 'admin_key', scopes })))).toBe(true);
    expect(() => guard.canActivate(executing(managing, aCaller({ scopes })))).toThrow(
      'not for workspace keys',
    );
    expect(guard.canActivate(executing(rating, aCaller({ scopes })))).toBe(true);
    expect(() => guard.canActivate(executing(rating, aCaller({ kind: 'admin_key', scopes })))).toThrow(
      'not for admin keys',
    );
  });

  it('keeps out a user without a session where the operation is about the session, and notes what was attempted', () => {
    const signingOut = aHandler(ForSession('sessions.delete'));
    const context = executing(signingOut, aCaller({ kind: 'person' }));
    const access = accessOf(context.switchToHttp().getRequest());

    expect(() => guard.canActivate(context)).toThrow('signed in to the dashboard');
    expect(access.action).toBe('sessions.delete');
    access.session = {} as KnownSession;
    expect(guard.canActivate(context)).toBe(true);
  });
});
