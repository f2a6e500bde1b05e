import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AuditChain } from '../../../src/admin/audit/audit-chain.js';
import { AuditSeal } from '../../../src/admin/audit/audit-seal.js';
import { verifyChain } from '../../../src/admin/audit/verify-chain.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { AdminApp } from '../../support/admin-app.js';
import { aRecord, fillChain } from '../../support/audit.js';
import { administer } from '../../support/administer.js';

const ADD_WORKSPACE =
  'INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, gen_random_uuid())';

/** What a process of the administration adds records with. */
class Writer {
  private readonly unit: UnitOfWork;
  private readonly chain: AuditChain;

  constructor(
    dataSource: DataSource,
    seal: AuditSeal,
    private readonly organizationId: string,
  ) {
    this.unit = new UnitOfWork(dataSource);
    this.chain = new AuditChain(this.unit, seal);
  }

  /** A change that nobody else waits for, and its record. */
  write(name = 'Changed', fail?: () => never): Promise<void> {
    // Its number is not its own choice.
    const record = aRecord(this.organizationId, '0');
    return this.unit.runFor({ organizationId: this.organizationId, isReading: false }, async () => {
      const { manager } = this.unit;
      await manager.query(ADD_WORKSPACE, [randomUUID(), this.organizationId, name]);
      this.chain.append(record);
      fail?.();
    });
  }
}

describe('the chain of an organization with many writers', () => {
  let app: AdminApp;
  let writers: [Writer, Writer];
  let organizationId: string;
  beforeAll(async () => {
    app = await AdminApp.start();
    organizationId = app.first.organisation_id;
    const aWriter = () => new Writer(app.dataSource, app.app.get(AuditSeal), organizationId);
    writers = [aWriter(), aWriter()];
  });
  afterAll(() => app.close());
  beforeEach(() =>
    administer(
      app.url,
      'SET session_replication_role = replica; DELETE FROM audit_records; DELETE FROM audit_heads',
    ),
  );

  async function verified() {
    const client = new pg.Client({ connectionString: app.url });
    await client.connect();
    try {
      return await verifyChain({ client, seal: app.app.get(AuditSeal), organizationId });
    } finally {
      await client.end();
    }
  }
  const isThere = async (name: string) =>
    (await app.dataSource.query('SELECT FROM workspaces WHERE name = $1', [name])).length > 0;
  const times = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index));

  it('holds when all of one process write at once', async () => {
    await Promise.all(times(40, () => writers[0].write()));

    expect(await verified()).toEqual({ records: 40, brokenAt: null, problem: null });
  });

  it('holds when two processes write at once', async () => {
    await Promise.all(times(40, (index) => (writers[index % 2] as Writer).write()));

    expect(await verified()).toEqual({ records: 40, brokenAt: null, problem: null });
  });

  it('continues from the end in the database', async () => {
    const [writer] = writers;
    await writer.write();
    await administer(
      app.url,
      'SET session_replication_role = replica; DELETE FROM audit_records; DELETE FROM audit_heads',
    );
    await fillChain(app, organizationId, 7);
    await writer.write('Behind the seventh');

    expect(await verified()).toEqual({ records: 8, brokenAt: null, problem: null });
    expect(await isThere('Behind the seventh')).toBe(true);
  });

  it('has nothing of a change that fails after its record, and continues after it', async () => {
    const [writer] = writers;
    await writer.write('Before');
    const failing = writer.write('Undone', () => {
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    expect(await isThere('Undone')).toBe(false);
    await writer.write('After');
    expect(await verified()).toEqual({ records: 2, brokenAt: null, problem: null });
  });

  it('keeps no change whose record is refused, and takes the next one', async () => {
    const [writer] = writers;
    await writer.write('Before');
    await administer(app.url, 'ALTER TABLE audit_records ADD CONSTRAINT none CHECK (false) NOT VALID');
    const refused = await Promise.allSettled(times(3, () => writer.write('Unrecorded')));
    await administer(app.url, 'ALTER TABLE audit_records DROP CONSTRAINT none');

    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(refused[0]).toMatchObject({ reason: { code: 'audit_unavailable' } });
    expect(await isThere('Unrecorded')).toBe(false);
    await writer.write('After');
    expect(await verified()).toEqual({ records: 2, brokenAt: null, problem: null });
  });

  it('is locked last: only its record and the commit follow', async () => {
    const [writer] = writers;
    await writer.write();
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    await writer.write();
    const texts = sent.mock.calls.map(([text]) => text);
    sent.mockRestore();

    expect(texts).toEqual([
      'START TRANSACTION',
      expect.stringContaining('set_config'),
      ADD_WORKSPACE,
      expect.stringContaining('FROM audit_heads'),
      expect.stringContaining('UPDATE audit_heads'),
      expect.stringContaining('INSERT INTO "audit_records"'),
      'COMMIT',
    ]);
  });

  it('is not held up by one who changes the organization itself and waits for its turn', async () => {
    const rename = (index: number) =>
      app.call('PUT', '/v1/admin/organisation', { body: { name: `Name ${index}` } });
    const make = () =>
      app.call('POST', '/v1/virtual-keys', {
        body: { name: 'A key', provider: 'openai', key: 'sk', workspace_id: 'ws-default' },
      });
    const answers = await Promise.all(times(30, (index) => (index % 3 === 0 ? rename(index) : make())));

    expect(answers.map(({ status }) => status)).toEqual(times(30, () => 200));
    expect(await verified()).toMatchObject({ records: 30, problem: null });
  });
});
