import { auditSealKey } from '../../../src/admin/audit/audit-seal-key.js';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChainReport } from '../../../src/admin/audit/verify-chain.js';
import { Secret } from '../../../src/common/settings/secret.js';
import type * as InParts from '../../../src/cli/audit/verify-in-parts.js';
import { AdminApp } from '../../support/admin-app.js';
import { fillChain } from '../../support/audit.js';
import { type CompiledSource, compileSource } from '../../support/compiled-source.js';
import { administer } from '../../support/administer.js';

/** Four parts: 1 to 301, 302 to 602, 603 to 903, and 904 to the end. */
const RECORDS = 1_203;
const CUT = { most: 4, smallest: 300 };

describe('a chain that is checked in parts, each by a thread', () => {
  let app: AdminApp;
  let compiled: CompiledSource;
  let verifyInParts: typeof InParts.verifyInParts;
  beforeAll(async () => {
    app = await AdminApp.start();
    // A thread is started from a file that the runtime can read.
    compiled = compileSource();
    const file = pathToFileURL(compiled.at('cli/audit/verify-in-parts.js')).href;
    ({ verifyInParts } = (await import(file)) as typeof InParts);
    await fillChain(app, app.first.organisation_id, RECORDS);
    await administer(app.url, 'CREATE TABLE as_written AS TABLE audit_records');
    await administer(app.url, 'CREATE TABLE head_as_written AS TABLE audit_heads');
  });
  afterAll(async () => {
    compiled.remove();
    await app.close();
  });

  /** As one who may switch the trigger off. */
  const forge = (statements: string) =>
    administer(app.url, `SET session_replication_role = replica; ${statements}`);
  beforeEach(() =>
    forge(`
      DELETE FROM audit_records; INSERT INTO audit_records TABLE as_written;
      DELETE FROM audit_heads; INSERT INTO audit_heads TABLE head_as_written`),
  );

  async function verify(onProgress: (records: number) => void = () => undefined): Promise<ChainReport> {
    const { masterKey } = app.settings;
    if (!masterKey) throw new Error('There is no master key.');
    const client = new pg.Client({ connectionString: app.url });
    await client.connect();
    try {
      const access = { url: new Secret(app.url), sealKey: auditSealKey(undefined, [masterKey]) };
      return await verifyInParts(client, access, {
        organizationId: app.first.organisation_id,
        onProgress,
        cut: CUT,
      });
    } finally {
      await client.end();
    }
  }

  it('is right when all of it is', async () => {
    expect(await verify()).toEqual({ records: RECORDS, brokenAt: null, problem: null });
  });

  it.each([
    ['the very first record', 1],
    ['the last of the first part', 301],
    ['the first of the second part', 302],
    ['the first of the last part', 904],
    ['the very last record', RECORDS],
  ])('names %s when it is changed, robbed of its seal, or gone', async (_, seq) => {
    const broken = (problem: string) => ({ records: seq - 1, brokenAt: String(seq), problem });
    const original = `DELETE FROM audit_records WHERE seq = ${seq}; INSERT INTO audit_records SELECT * FROM as_written WHERE seq = ${seq}`;

    await forge(`UPDATE audit_records SET actor_name = 'Nobody' WHERE seq = ${seq}`);
    expect(await verify()).toEqual(broken('changed'));
    await forge(`${original}; UPDATE audit_records SET seal = NULL WHERE seq = ${seq}`);
    expect(await verify()).toEqual(broken('forged'));
    await forge(`DELETE FROM audit_records WHERE seq = ${seq}`);
    expect(await verify()).toEqual(broken(seq === RECORDS ? 'cut' : 'missing'));
  });

  it('names the first of several, whatever parts they are in', async () => {
    await forge("UPDATE audit_records SET ip = '10.0.0.9' WHERE seq IN (1100, 700, 650)");

    expect(await verify()).toEqual({ records: 649, brokenAt: '650', problem: 'changed' });
  });

  it('notices two parts that changed places, and an end that was cut off', async () => {
    await forge(`
      UPDATE audit_records SET seq = seq + 10000 WHERE seq BETWEEN 302 AND 903;
      UPDATE audit_records SET seq = seq - 10000 + 301 WHERE seq BETWEEN 10302 AND 10602;
      UPDATE audit_records SET seq = seq - 10000 - 301 WHERE seq > 10000`);
    expect(await verify()).toMatchObject({ brokenAt: '302', problem: 'changed' });

    await forge(`
      DELETE FROM audit_records; INSERT INTO audit_records SELECT * FROM as_written WHERE seq <= 1000`);
    expect(await verify()).toEqual({ records: 1_000, brokenAt: '1001', problem: 'cut' });
  });

  it('sees it as it was at one moment, though records are added meanwhile', async () => {
    const adding = Array.from({ length: 5 }, () => app.workspaceKey(['logs.view']));
    const report = await verify();
    await Promise.all(adding);

    expect(report.problem).toBeNull();
    expect(await verify()).toEqual({ records: RECORDS + 5, brokenAt: null, problem: null });
  });
});
