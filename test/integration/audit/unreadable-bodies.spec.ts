import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

const SERVICE_KEYS = '/v1/api-keys/organisation/service';

describe('a change whose body cannot be read', () => {
  let app: AdminApp;
  let workspaceKey: string;
  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceKey = (await app.workspaceKey()).key;
  });
  afterAll(() => app.close());

  const recordsSince = (seq: string) =>
    app.dataSource.query<object[]>(
      'SELECT action, outcome, status, error_code FROM audit_records WHERE seq > $1 ORDER BY seq',
      [seq],
    );
  const lastSeq = async () => {
    const [row] = await app.dataSource.query<{ seq: string }[]>(
      'SELECT coalesce(max(seq), 0)::text AS seq FROM audit_records',
    );
    return row?.seq ?? '0';
  };

  it.each([
    ['cut JSON', '{"name":', 'application/json', 400, 'invalid_json'],
    ['a text with a NUL', '{"name":"\\u0000"}', 'application/json', 400, 'invalid_json'],
    ['a form', 'name=a', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  ])('is recorded once as a refused attempt: %s', async (_what, body, type, status, code) => {
    const before = await lastSeq();
    const answer = await app.call('POST', '/v1/guardrails', { body, headers: { 'content-type': type } });

    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(await recordsSince(before)).toEqual([
      { action: 'guardrails.create', outcome: 'refused', status, error_code: code },
    ]);
  });

  it('is refused for the missing scope before its body is looked at', async () => {
    const before = await lastSeq();
    const answer = await app.call('POST', SERVICE_KEYS, { key: workspaceKey, body: '{"name":' });

    expect(answer.status).toBe(403);
    expect(await recordsSince(before)).toMatchObject([{ outcome: 'refused', status: 403 }]);
  });

  it('is refused for the missing key before its body is looked at, and leaves no record', async () => {
    const before = await lastSeq();
    const answer = await app.call('POST', SERVICE_KEYS, { key: 'unknown', body: '{"name":' });

    expect(answer.status).toBe(401);
    expect(await recordsSince(before)).toEqual([]);
  });
});
