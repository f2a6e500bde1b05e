import { type ClientRequest, request } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    [
      'more than 1 MiB',
      JSON.stringify({ name: 'x'.repeat(1_048_576) }),
      'application/json',
      413,
      'body_too_large',
    ],
    ['a type without a parser', '<name>a</name>', 'application/xml', 415, 'unsupported_media_type'],
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

  it.each([
    ['too large', 'application/json', 'x'.repeat(1_100_000)],
    ['of an unknown type', 'text/csv', 'name'],
  ])('is refused for the missing scope though it is %s', async (_what, type, body) => {
    const before = await lastSeq();
    const answer = await app.call('POST', SERVICE_KEYS, {
      key: workspaceKey,
      body,
      headers: { 'content-type': type },
    });

    expect(answer.status).toBe(403);
    expect(await recordsSince(before)).toMatchObject([{ outcome: 'refused', status: 403 }]);
  });

  it('gets a response and a record though the announced bytes never come, and though it grows without an end', async () => {
    await app.app.listen(0, '127.0.0.1');
    const { port } = app.app.getHttpServer().address() as AddressInfo;
    const headers = { 'content-type': 'application/json', 'x-gateway-api-key': app.first.admin_api_key };
    const ask = (more: object, send: (request: ClientRequest) => void): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request({
          port,
          method: 'POST',
          path: '/v1/guardrails',
          headers: { ...headers, ...more },
        });
        sent.once('response', (answer) => {
          resolve(answer.statusCode);
          sent.destroy();
        });
        sent.on('error', reject);
        send(sent);
      });
    const before = await lastSeq();
    expect(await ask({ 'content-length': 2 ** 31 }, (sent) => sent.flushHeaders())).toBe(413);
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const grow = (sent: ClientRequest): void => {
      for (let at = 0; at < 17; at++) sent.write(chunk);
    };
    expect(await ask({}, grow)).toBe(413);
    const refused = {
      action: 'guardrails.create',
      outcome: 'refused',
      status: 413,
      error_code: 'body_too_large',
    };
    expect(await recordsSince(before)).toEqual([refused, refused]);
  });

  it('is refused for the missing key before its body is looked at, and leaves no record', async () => {
    const before = await lastSeq();
    const answer = await app.call('POST', SERVICE_KEYS, { key: 'unknown', body: '{"name":' });

    expect(answer.status).toBe(401);
    expect(await recordsSince(before)).toEqual([]);
  });
});
