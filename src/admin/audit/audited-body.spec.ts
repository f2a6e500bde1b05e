import { describe, expect, it } from 'vitest';
import { mintApiKey } from '../../common/crypto/api-key-format.js';
import { Audited } from '../dto-fields/audited.js';
import { auditedBody, auditedPath } from './audited-body.js';

/** As the decorators of a DTO do. */
const shows = (names: readonly string[], within?: string): void => {
  for (const name of names) Audited(within)({}, name);
};
shows(['custom_host', 'expires_at', 'name', 'note', 'scopes', 'slug', 'workspace_id']);
shows(['type', 'unit', 'value'], 'rate_limits');
shows(['credit_limit', 'type'], 'usage_limits');
shows(['id', 'role'], 'workspaces');
shows(['config_id'], 'defaults');

describe('auditedBody', () => {
  it('shows what was requested, and masks secrets of any type', () => {
    expect(auditedBody({ name: 'A', scopes: ['logs.view'], key: 'sk-1', expires_at: null })).toEqual({
      name: 'A',
      scopes: ['logs.view'],
      key: '***',
      expires_at: null,
    });
    for (const key of [123, true, ['sk'], { a: 'sk' }, null])
      expect(auditedBody({ key })).toEqual({ key: '***' });
  });

  it('masks unlisted fields, and those nested in shown ones', () => {
    expect(auditedBody({ kye: 'sk-1', name: { key: 'sk-1' }, scopes: [{ key: 'sk-1' }] })).toEqual({
      kye: '***',
      name: '***',
      scopes: ['***'],
    });
  });

  it('shows limits, workspaces and defaults by their known fields, and masks all else in them', () => {
    expect(
      auditedBody({
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 5, key: 'sk-1' }],
        usage_limits: { credit_limit: 2.5, type: { a: 'sk-1' } },
        workspaces: ['sk-1', { id: 'ws-default', role: 'member' }],
        defaults: { config_id: 'cfg', metadata: { token: 'sk-1' } },
      }),
    ).toEqual({
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5, key: '***' }],
      usage_limits: { credit_limit: 2.5, type: '***' },
      workspaces: ['***', { id: 'ws-default', role: 'member' }],
      defaults: { config_id: 'cfg', metadata: '***' },
    });
    expect(auditedBody({ rate_limits: null, defaults: 'sk-1' })).toEqual({
      rate_limits: null,
      defaults: '***',
    });
  });

  it('masks a gateway key in the wrong field, and an address with credentials', () => {
    const key = mintApiKey('ws').reveal();

    expect(
      auditedBody({
        name: key,
        note: 'https://user:pass@example.com',
        custom_host: 'https://a.example/?key=1',
      }),
    ).toEqual({
      name: '***',
      note: '***',
      custom_host: '***',
    });
  });

  it('keeps long texts and long lists short', () => {
    const kept = auditedBody({
      name: 'x'.repeat(1_000_000),
      scopes: Array.from({ length: 5000 }, () => 'y'),
    });

    expect(JSON.stringify(kept).length).toBeLessThan(2000);
  });

  it.each([undefined, null, {}, 'text', 7])('has nothing to say of %j', (body) => {
    expect(auditedBody(body)).toBeNull();
  });
});

describe('auditedPath', () => {
  it('leaves out the query, keys and what cannot be stored', () => {
    const key = mintApiKey('admin').reveal();

    expect(auditedPath(`/v1/virtual-keys/${key}?api_key=${key}`)).toBe('/v1/virtual-keys/***');
    expect(auditedPath('a\0b\nc\ud800')).toBe('a\uFFFDb\uFFFDc\uFFFD');
  });
});
