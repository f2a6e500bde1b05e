import { describe, expect, it } from 'vitest';
import { scopesOfRoles } from './roles.js';
import { isScope, SCOPES } from '../scopes.js';

describe('scopesOfRoles', () => {
  it.each(['owner', 'admin'] as const)(
    'lets an organization %s do everything, in every workspace',
    (organization) => {
      expect(scopesOfRoles({ organization, workspace: null }).size).toBe(Object.keys(SCOPES).length);
    },
  );

  it.each(['admin', 'manager'] as const)('lets a workspace %s do what its service keys may', (workspace) => {
    const scopes = scopesOfRoles({ organization: 'member', workspace });

    expect([...scopes].every((scope) => SCOPES[scope].service)).toBe(true);
    expect(scopes.has('workspace_service_api_keys.create')).toBe(true);
    expect(scopes.has('organisation_users.create')).toBe(false);
  });

  it('lets a member use and see, and neither change nor make anything', () => {
    const scopes = [...scopesOfRoles({ organization: 'member', workspace: 'member' })];

    expect(scopes.filter((scope) => /\.(create|update|delete|rotate)$/.test(scope))).toEqual([]);
    expect(scopes.every(isScope)).toBe(true);
    expect(scopes).toContain('completions.write');
  });

  it('lets who belongs to no workspace do nothing', () => {
    expect(scopesOfRoles({ organization: 'member', workspace: null })).toEqual(new Set());
  });
});
