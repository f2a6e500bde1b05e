import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditSeal } from '../../../src/admin/audit/audit-seal.js';
import type { ChainPart } from '../../../src/admin/audit/chain-rows.js';
import { verifyChain } from '../../../src/admin/audit/verify-chain.js';
import { chainHash } from '../../../src/admin/audit/audit-seal.js';
import { written } from '../../../src/admin/audit/canonical-record.js';
import { AuditRecord } from '../../../src/admin/audit/audit-record.entity.js';
import { fillChain } from '../../support/audit.js';
import { AdminApp } from '../../support/admin-app.js';
import { administer } from '../../support/administer.js';

describe('the audit trail', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const aVirtualKey = (more: object = {}, key?: string, at = app) =>
    at.call('POST', '/v1/virtual-keys', {
      key,
      body: { name: 'A key', provider: 'openai', key: 'sk-canary-1', workspace_id: 'ws-default', ...more },
    });
  const last = async () => (await app.audited()).at(-1);
  const count = async () => (await app.audited()).length;

  it('records who did what to what, from where, with what', async () => {
    const { slug } = (await aVirtualKey({ note: 'a note' })).body.data;
    const [{ id: adminKey }] = await app.dataSource.query(
      "SELECT id FROM api_keys WHERE kind = 'organisation-service'",
    );

    expect(await last()).toMatchObject({
      organization_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      actor_kind: 'admin_key',
      actor_id: adminKey,
      actor_name: 'First admin key',
      action: 'virtual_keys.create',
      target_type: 'virtual_keys',
      target_id: expect.any(String),
      ip: '127.0.0.1',
      method: 'POST',
      path: '/v1/virtual-keys',
      request: { name: 'A key', provider: 'openai', key: '***', note: 'a note', workspace_id: 'ws-default' },
      before: null,
      after: { slug, name: 'A key' },
      outcome: 'success',
      status: 200,
      error_code: null,
    });
  });

  it('carries the request id of the response', async () => {
    const answer = await aVirtualKey();

    expect((await last()).request_id).toBe(answer.headers['x-gateway-request-id']);
  });

  it('shows a change before and after', async () => {
    const { slug } = (await aVirtualKey({ name: 'Before' })).body.data;
    await app.call('PUT', `/v1/virtual-keys/${slug}`, { body: { name: 'After' } });

    expect(await last()).toMatchObject({ before: { name: 'Before' }, after: { name: 'After' } });
    await app.call('DELETE', `/v1/virtual-keys/${slug}`);
    expect(await last()).toMatchObject({
      action: 'virtual_keys.delete',
      before: { name: 'After' },
      after: null,
    });
  });

  it('has nothing about reading, and nothing about callers who were not identified', async () => {
    const before = await count();
    await app.call('GET', '/v1/virtual-keys');
    await app.call('GET', '/v1/virtual-keys/none');
    await app.call('DELETE', '/v1/virtual-keys/none', { key: '' });
    await app.call('POST', '/v1/nowhere', { body: {} });

    expect(await count()).toBe(before);
  });

  it.each([
    ['that lacks the scope', 403, 'forbidden', { name: 'x' }],
    [
      'that is not valid',
      400,
      'invalid_request',
      { name: 'x', provider: 'openai', key: 'sk-canary-2', keey: 'sk-canary-2' },
    ],
    ['that the service refuses', 400, 'credential_required', { name: 'x', provider: 'openai' }],
  ])('has one record of an attempt %s', async (which, status, error_code, body) => {
    const { key } = await app.workspaceKey(which === 'that lacks the scope' ? ['logs.view'] : undefined);
    const before = await count();
    await app.call('POST', '/v1/virtual-keys', { key, body });

    expect(await count()).toBe(before + 1);
    const record = await last();
    expect(record).toMatchObject({
      action: 'virtual_keys.create',
      outcome: 'refused',
      status,
      error_code,
      after: null,
    });
    expect(JSON.stringify(record)).not.toContain('sk-canary-2');
  });

  it('ignores a forwarded address of a stranger', async () => {
    await app.call('DELETE', '/v1/virtual-keys/none', { headers: { 'x-forwarded-for': '1.2.3.4' } });

    expect((await last()).ip).toBe('127.0.0.1');
  });

  it('does not record a key that was sent in the URL', async () => {
    const { key } = await app.workspaceKey();
    await app.call('DELETE', `/v1/virtual-keys/${key}?key=${key}`);

    expect(JSON.stringify(await last())).not.toContain(key.slice(10));
  });

  it.each(['%00', '%0a', '%F0%9F%9A%80', 'x'.repeat(99)])(
    'has a record of an attempt on %s',
    async (name) => {
      const before = await count();
      await app.call('DELETE', `/v1/virtual-keys/${name}`);

      expect(await count()).toBe(before + 1);
      expect(await last()).toMatchObject({
        action: 'virtual_keys.delete',
        status: 404,
        target_id: expect.any(String),
      });
    },
  );

  describe('when it cannot be written', () => {
    const rowCount = async (at: AdminApp) =>
      Number((await at.dataSource.query('SELECT count(*) FROM virtual_keys'))[0].count);

    async function expectNoChange(at: AdminApp, slug: string): Promise<void> {
      const [rows, changes] = [await rowCount(at), at.changes.length];
      const { key } = (await at.dataSource.query('SELECT key_hash AS key FROM api_keys ORDER BY id'))[0];
      const calls: [string, string, object][] = [
        [
          'POST',
          '/v1/virtual-keys',
          { name: 'x', provider: 'openai', key: 'sk', workspace_id: 'ws-default' },
        ],
        ['PUT', `/v1/virtual-keys/${slug}`, { name: 'Changed' }],
        ['DELETE', `/v1/virtual-keys/${slug}`, {}],
      ];
      for (const [method, path, body] of calls) {
        const answer = await at.call(method, path, { body });
        expect(answer).toMatchObject({ status: 503, body: { error: { code: 'audit_unavailable' } } });
      }
      expect(await rowCount(at)).toBe(rows);
      expect(at.changes).toHaveLength(changes);
      expect((await at.call('GET', `/v1/virtual-keys/${slug}`)).body.name).toBe('Kept');
      expect((await at.dataSource.query('SELECT key_hash AS key FROM api_keys ORDER BY id'))[0].key).toEqual(
        key,
      );
    }

    it('nothing changes, and the response reports it', async () => {
      const { slug } = (await aVirtualKey({ name: 'Kept' })).body.data;
      await administer(app.url, 'ALTER TABLE audit_records RENAME TO audit_records_away');
      try {
        await expectNoChange(app, slug);
      } finally {
        await administer(app.url, 'ALTER TABLE audit_records_away RENAME TO audit_records');
      }
      expect((await app.call('PUT', `/v1/virtual-keys/${slug}`, { body: { name: 'Changed' } })).status).toBe(
        200,
      );
    });

    it('nothing changes when its table is locked', async () => {
      const served = await AdminApp.start({}, null, false);
      const { slug } = (await aVirtualKey({ name: 'Kept' }, undefined, served)).body.data;
      const holder = new pg.Client({ connectionString: served.url });
      await holder.connect();
      await holder.query('BEGIN; LOCK TABLE audit_records IN ACCESS EXCLUSIVE MODE');
      try {
        await expectNoChange(served, slug);
      } finally {
        await holder.end();
        await served.close();
      }
    });
  });

  describe('as a list', () => {
    const AUDIT = '/v1/audit-logs';
    const list = async (query = '', key?: string) => app.call('GET', `${AUDIT}${query}`, { key });

    it('shows the newest first, under the names of the compatible API', async () => {
      const made = await aVirtualKey({ name: 'Listed' });
      const answer = await list('?page_size=1');

      expect(answer.body).toMatchObject({ object: 'analytics-graph', total: await count() });
      expect(answer.body.records).toHaveLength(1);
      expect(answer.body.records[0]).toMatchObject({
        method: 'POST',
        uri: '/v1/virtual-keys',
        request_id: made.headers['x-gateway-request-id'],
        request_body: expect.stringContaining('"key":"***"'),
        user_type: 'api_key',
        organisation_id: app.first.organisation_id,
        workspace_id: app.first.workspace_id,
        response_status_code: 200,
        resource_type: 'virtual_keys',
        action: 'create',
        client_ip: '127.0.0.1',
        outcome: 'success',
        after: { name: 'Listed' },
      });
    });

    it('is narrowed by each of its filters', async () => {
      const answer = await aVirtualKey({ name: 'Filtered' });
      await aVirtualKey({ keey: 1 });
      const id = String(answer.headers['x-gateway-request-id']);
      const [newest] = (await list(`?request_id=${id}`)).body.records;
      const fitting = [
        'method=POST',
        'uri=/v1/virtual-keys',
        `user_id=${newest.user_id}`,
        'user_type=api_key',
        'response_status_code=200',
        `workspace_id=${app.first.workspace_id}`,
        'resource_type=virtual_keys',
        'action=create',
        'action=virtual_keys.create',
        'client_ip=127.0.0.1',
        'outcome=success',
        'start_time=2020-01-01',
        'end_time=2100-01-01T00:00:00Z',
        `organisation_id=${app.first.organisation_id}`,
      ];
      for (const filter of fitting)
        expect(
          (await list(`?request_id=${id}&${filter}`)).body.records.map((each: { id: string }) => each.id),
        ).toEqual([newest.id]);
      const others = [
        'method=PUT',
        'uri=/v1',
        `user_id=${id}`,
        'user_type=user',
        'response_status_code=400',
        `workspace_id=${id}`,
        'resource_type=x',
        'action=delete',
        'client_ip=10.0.0.1',
        'outcome=refused',
        'start_time=2100-01-01',
        'end_time=2020-01-01',
      ];
      for (const filter of others)
        expect((await list(`?request_id=${id}&${filter}`)).body).toMatchObject({ total: 0, records: [] });
    });

    it.each([
      'start_time=soon',
      'user_id=1',
      'method=HEAD',
      'response_status_code=all',
      'actoin=create',
      'page_size=0',
      'page_size=101',
      'method=PUT&method=POST',
      'uri=%00',
    ])('refuses %s', async (query) => {
      expect((await list(`?${query}`)).status).toBe(400);
    });

    it('has no country, which no record has', async () => {
      expect((await list('?country=DE')).body).toMatchObject({ total: 0, records: [] });
    });

    it('is for who administers the organization, and shows another one nowhere', async () => {
      const { key } = await app.workspaceKey();
      const { organizationId } = await app.anotherOrganization();

      expect((await list('', key)).status).toBe(403);
      expect((await list(`?organisation_id=${organizationId}`)).status).toBe(404);
      expect((await list(`?organisation_id=${app.first.workspace_id}`)).status).toBe(404);
    });

    it('is downloaded as one JSON document a line, whatever was sent', async () => {
      const name = String.fromCodePoint(0x1b, 0x5b) + '31m"}{"\u2028';
      await aVirtualKey({ note: `${name}\r\n{"forged":true}` });
      const answer = await app.call('GET', `${AUDIT}/export?start_time=2020-01-01`);
      const lines = answer.text.split('\n');

      expect(answer.headers['content-type']).toContain('application/x-ndjson');
      expect(lines.pop()).toBe('');
      expect(lines).toHaveLength(await count());
      expect(lines.map((line) => JSON.parse(line).seq)).toEqual((await app.audited()).map(({ seq }) => seq));
      expect(answer.text).not.toMatch(/[^\n\P{Cc}]/u);
    });

    it('is downloaded past one reading of the database, and holds no connection meanwhile', async () => {
      const other = await AdminApp.start();
      await fillChain(other, other.first.organisation_id, 1700);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => other.call('GET', `${AUDIT}/export`)),
      );

      // Each download leaves a record, which a later one contains.
      for (const { text } of answers) expect(text.split('\n').length).toBeGreaterThanOrEqual(1701);
      expect((await other.call('GET', AUDIT)).body.total).toBe(1700 + answers.length);
      await other.close();
    });
  });

  describe('as a table', () => {
    it.each(["UPDATE audit_records SET action = 'x'", 'DELETE FROM audit_records', 'TRUNCATE audit_records'])(
      'refuses %s',
      async (statement) => {
        await expect(app.dataSource.query(statement)).rejects.toThrow('cannot be changed or removed');
      },
    );
  });

  describe('as a chain', () => {
    let chained: AdminApp;
    beforeAll(async () => {
      chained = await AdminApp.start();
    });
    afterAll(() => chained.close());

    const verify = async (part?: ChainPart) => {
      const reader = new pg.Client({ connectionString: chained.url });
      await reader.connect();
      try {
        return await verifyChain(
          { client: reader, seal: chained.app.get(AuditSeal), organizationId: chained.first.organisation_id },
          part,
        );
      } finally {
        await reader.end();
      }
    };
    /** As one who may switch the trigger off. */
    const forge = (statement: string) =>
      administer(chained.url, `SET session_replication_role = replica; ${statement}`);

    beforeEach(async () => {
      await forge('DELETE FROM audit_records; DELETE FROM audit_heads');
      await Promise.all(
        Array.from({ length: 6 }, (_, index) => chained.workspaceKey(['logs.view']).then(() => index)),
      );
    });

    it('has no gap after changes at the same time', async () => {
      expect((await chained.audited()).map(({ seq }) => seq)).toEqual(['1', '2', '3', '4', '5', '6']);
      expect(await verify()).toEqual({ records: 6, brokenAt: null, problem: null });
    });

    const SWAP =
      'UPDATE audit_records SET seq = 30 WHERE seq = 2; UPDATE audit_records SET seq = 2 WHERE seq = 3; UPDATE audit_records SET seq = 3 WHERE seq = 30';
    const HEAD_BACK =
      'UPDATE audit_heads SET seq = 4, hash = (SELECT hash FROM audit_records WHERE seq = 4), seal = (SELECT seal FROM audit_records WHERE seq = 4)';

    it.each([
      ['edited', "UPDATE audit_records SET after = '{}' WHERE seq = 3", '3', 'changed'],
      ['given another actor', "UPDATE audit_records SET actor_name = 'Nobody' WHERE seq = 5", '5', 'changed'],
      [
        'given another time',
        "UPDATE audit_records SET at = at - interval '1 ms' WHERE seq = 1",
        '1',
        'changed',
      ],
      ['removed', 'DELETE FROM audit_records WHERE seq = 2', '2', 'missing'],
      ['cut off at the end', 'DELETE FROM audit_records WHERE seq > 4', '5', 'cut'],
      [
        'cut off with the head set back',
        `${HEAD_BACK}; DELETE FROM audit_records WHERE seq > 4`,
        '5',
        'forged',
      ],
      ['swapped with another', SWAP, '2', 'changed'],
      ['moved', 'UPDATE audit_records SET seq = 30 WHERE seq = 2', '2', 'missing'],
      ['robbed of its seal', 'UPDATE audit_records SET seal = NULL WHERE seq = 4', '4', 'forged'],
      ['removed with all others', 'DELETE FROM audit_records', '1', 'cut'],
      [
        'removed with all others and the head',
        'DELETE FROM audit_records WHERE seq < 6; DELETE FROM audit_heads',
        '1',
        'missing',
      ],
    ])('notices a record that was %s', async (_, statement, brokenAt, problem) => {
      await forge(statement);

      expect(await verify()).toEqual({ records: Number(brokenAt) - 1, brokenAt, problem });
    });

    it('detects a record that was appended at the end, and a chain that was recomputed without the key', async () => {
      const records: AuditRecord[] = await chained.dataSource
        .getRepository(AuditRecord)
        .find({ order: { seq: 'ASC' } });
      let hash = records[1]?.hash ?? Buffer.alloc(0);
      for (const record of records.slice(2)) {
        record.actorName = 'Somebody else';
        hash = chainHash(hash, written(record));
        await forge(
          `UPDATE audit_records SET actor_name = 'Somebody else', hash = '\\x${hash.toString('hex')}' WHERE seq = ${record.seq}`,
        );
      }
      await forge(`UPDATE audit_heads SET hash = '\\x${hash.toString('hex')}'`);

      expect(await verify()).toEqual({ records: 2, brokenAt: '3', problem: 'forged' });
    });

    it('is checked past one reading of the database', async () => {
      const many = 12_000;
      const organizationId = chained.first.organisation_id;
      await forge('DELETE FROM audit_records; DELETE FROM audit_heads');
      await fillChain(chained, organizationId, many);
      expect(await verify()).toEqual({ records: many, brokenAt: null, problem: null });
      await forge("UPDATE audit_records SET ip = '10.0.0.9' WHERE seq = 11111");
      expect(await verify()).toEqual({ records: 11_110, brokenAt: '11111', problem: 'changed' });
      expect(await verify({ after: 0, upTo: 6_000 })).toMatchObject({ records: 6_000, problem: null });
      expect(await verify({ after: 6_000, upTo: 12_000 })).toMatchObject({ brokenAt: '11111' });
      expect(await verify({ after: 11_110, upTo: 11_500 })).toMatchObject({ brokenAt: '11111' });
      // Who checks what follows a wrong record trusts what stands there: the part before has named it.
      expect(await verify({ after: 11_111, upTo: null })).toMatchObject({ records: many, problem: null });
      await forge('DELETE FROM audit_records WHERE seq = 6000');
      expect(await verify({ after: 0, upTo: 6_000 })).toMatchObject({ brokenAt: '6000', problem: 'missing' });
      expect(await verify({ after: 6_000, upTo: null })).toMatchObject({ problem: 'missing' });
    });
  });
});
