import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anchorsIn, latestOf } from '../../../src/admin/audit/chain-anchors.js';
import { verifyCommand } from '../../../src/cli/audit/verify-command.js';
import { KeepAnchors } from '../../../src/jobs/audit-forwarding/keep-anchors.js';
import { auditMessage } from '../../../src/jobs/audit-forwarding/audit-message.js';
import { AuditRecord } from '../../../src/admin/audit/audit-record.entity.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { administer } from '../../support/administer.js';

const SAVED = ['audit_records', 'audit_heads'] as const;

describe('an audit log with writable tables', () => {
  let app: AdminApp;
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-anchors-'));
    file = join(folder, 'audit-anchors.jsonl');
    app = await AdminApp.start({ GATEHOUSE_DATA_DIR: folder });
    for (const name of ['one', 'two', 'three']) await change(name);
    for (const table of SAVED) await administer(app.url, `CREATE TABLE early_${table} AS TABLE ${table}`);
    for (const name of ['four', 'five']) await change(name);
    for (const table of SAVED) await administer(app.url, `CREATE TABLE late_${table} AS TABLE ${table}`);
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  const change = (name: string) => app.call('PUT', '/v1/admin/organisation', { body: { name } });
  /** As one who may switch the trigger off. */
  const forge = (statements: string) =>
    administer(app.url, `SET session_replication_role = replica; ${statements}`);
  const setTo = (which: 'early' | 'late') =>
    forge(
      SAVED.map((table) => `DELETE FROM ${table}; INSERT INTO ${table} TABLE ${which}_${table}`).join(';'),
    );
  const keep = () => new KeepAnchors(app.dataSource, app.settings).round();
  const byRest = async (): Promise<Json> => (await app.call('GET', '/v1/audit-logs/verify')).body;
  const byCommand = (anchor?: string) =>
    verifyCommand(
      {
        DATABASE_URL: app.url,
        GATEHOUSE_MASTER_KEY: app.settings.masterKey?.reveal(),
        GATEHOUSE_KEY_PEPPER: app.settings.keyPepper?.reveal(),
        GATEHOUSE_DATA_DIR: folder,
      },
      anchor === undefined ? {} : { anchor },
    );
  const total = 5;

  beforeEach(async () => {
    await setTo('late');
    await rm(file, { force: true });
  });

  it('is intact with an anchor of its end, and with one of an earlier record', async () => {
    await setTo('early');
    await keep();
    await setTo('late');
    expect(await byRest()).toMatchObject({ problem: null, verified_up_to: total });
    await keep();

    expect(await byRest()).toMatchObject({ problem: null, verified_up_to: total });
    expect(await byCommand()).toBe(0);
    expect(anchorsIn(await readFile(file, 'utf8'))).toMatchObject([{ seq: String(total) }]);
  });

  it('is not intact after all of it was removed with its head, even without an anchor', async () => {
    await forge('DELETE FROM audit_records; DELETE FROM audit_heads');

    expect(await byRest()).toMatchObject({ problem: 'cut', broken_at: 1, total: 0 });
    expect(await byCommand()).toBe(1);
  });

  const WAYS: readonly (readonly [string, () => Promise<unknown>, number])[] = [
    ['set back to an earlier state', () => setTo('early'), 4],
    [
      'set back, and continued',
      async () => {
        await setTo('early');
        for (const name of ['other', 'others', 'more']) await change(name);
      },
      total,
    ],
    [
      'emptied, with the head of an organization without records',
      () => forge("DELETE FROM audit_records; UPDATE audit_heads SET seq = 0, hash = '', seal = NULL"),
      1,
    ],
    [
      'emptied, and begun again',
      async () => {
        await forge('DELETE FROM audit_records; DELETE FROM audit_heads');
        await change('anew');
      },
      2,
    ],
  ];

  it.each(WAYS)('is not intact after it was %s', async (_, tamper, brokenAt) => {
    await keep();
    const anchor = await readFile(file, 'utf8');
    await tamper();

    expect(await byRest()).toMatchObject({ problem: 'set_back', broken_at: brokenAt });
    expect(await byCommand()).toBe(1);
    await expect(keep()).rejects.toThrow('lacks records');
    expect(await readFile(file, 'utf8'), 'the evidence stays').toBe(anchor);
  });

  it.each(WAYS)('is compared with anchors kept elsewhere after it was %s', async (_, tamper) => {
    const records = await app.dataSource.getRepository(AuditRecord).find({ order: { seq: 'ASC' } });
    const [before, last] = records.slice(-2);
    if (!before || !last) throw new Error('There are no records.');
    const forwarded = join(folder, 'forwarded.jsonl');
    await writeFile(forwarded, `not JSON\n${auditMessage(last, before.hash).json}\n`);
    expect(await byCommand(forwarded)).toBe(0);
    await tamper();

    expect(await byCommand(forwarded)).toBe(1);
  });

  it('is not intact where an anchor names an organization that is gone', async () => {
    const line = { organization_id: '01a0a1b2-0000-7000-8000-000000000000', seq: '3', hash: 'ab'.repeat(32) };
    await writeFile(file, JSON.stringify(line));

    expect(await byCommand()).toBe(1);
    await expect(keep()).rejects.toThrow('lacks records');
  });

  it('refuses a file of anchors that has none, or does not exist', async () => {
    await writeFile(join(folder, 'empty'), '{}\n');
    await expect(byCommand(join(folder, 'empty'))).rejects.toThrow('has no anchor');
    await expect(byCommand(join(folder, 'absent'))).rejects.toThrow('cannot be read');
  });
});

describe('the anchors in a text', () => {
  const id = '01a0a1b2-0000-7000-8000-000000000000';
  const hash = 'ab'.repeat(32);

  it('are read from every form in which ends of a log leave the gateway, the latest of each organization', () => {
    const lines = [
      { organization_id: id, seq: '3', hash },
      { level: 30, msg: 'The end of an audit log was anchored.', organization_id: id, seq: '10', hash },
      { hash, previous_hash: '', record: { organizationId: id, seq: '9' } },
      { organization_id: id, seq: 'x', hash },
      { organization_id: 'x', seq: '99', hash },
      null,
    ];
    const anchors = anchorsIn(lines.map((line) => JSON.stringify(line)).join('\n'));

    expect(anchors.map(({ seq }) => seq)).toEqual(['3', '10', '9']);
    expect(latestOf(anchors).get(id)?.seq).toBe('10');
  });
});
