import { describe, expect, it } from 'vitest';
import '../../src/admin/admin.module.js';
import { isAudited } from '../../src/admin/dto-fields/audited.js';

describe('the audit trail', () => {
  it('shows fields that describe a change', () => {
    for (const name of ['name', 'scopes', 'expires_at', 'manager_type'])
      expect(isAudited(name), name).toBe(true);
  });

  it('shows no field that holds a credential', () => {
    for (const name of [
      'key',
      'secret',
      'client_secret',
      'password',
      'new_password',
      'code',
      'token',
      'auth_config',
    ])
      expect(isAudited(name), name).toBe(false);
  });
});
