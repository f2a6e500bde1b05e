import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditSeal } from '../../../src/admin/audit/audit-seal.js';
import { auditSealKey, KNOWN_SEAL_KEY, type KnownSealKey } from '../../../src/admin/audit/audit-seal-key.js';
import { verifyChain } from '../../../src/admin/audit/verify-chain.js';
import { verifyMasterKey } from '../../../src/admin/bootstrap/bootstrap.js';
import { SecretBox, type WrappedKey } from '../../../src/common/crypto/envelope.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { replaceMasterKey } from '../../../src/cli/master-key/replace-master-key.js';
import { AdminApp } from '../../support/admin-app.js';

const PURPOSE = ['a text of a test'];
const aKey = () => new Secret(randomBytes(32).toString('base64'));

let app: AdminApp;
let client: pg.Client;
let first: Secret;

beforeEach(async () => {
  app = await AdminApp.start();
  first = app.settings.masterKey as Secret;
  client = new pg.Client({ connectionString: app.url });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await app.close();
});

async function organizationKey(): Promise<WrappedKey> {
  const { rows } = await client.query<WrappedKey>(
    'SELECT id AS "organizationId", wrapped_key AS wrapped FROM organizations',
  );
  return rows[0] as WrappedKey;
}

async function chainProblem(...keys: Secret[]): Promise<unknown> {
  const { rows } = await client.query<KnownSealKey>(KNOWN_SEAL_KEY);
  const seal = new AuditSeal(auditSealKey(rows[0], keys));
  return (await verifyChain({ client, seal, organizationId: app.first.organisation_id })).problem;
}

const change = (name: string) =>
  app.call('POST', '/v1/workspaces', { body: { name, description: 'It leaves a record.' } });

describe('replacing the master key', () => {
  it('seals organizations and the audit trail by the next key, and by nothing else', async () => {
    await change('before');
    const sealed = new SecretBox(first).sealText(await organizationKey(), PURPOSE, new Secret('clear'));
    const next = aKey();

    expect(await replaceMasterKey(client, { present: first, next })).toBe(1);

    const key = await organizationKey();
    expect(new SecretBox(next).openText(key, PURPOSE, sealed).reveal()).toBe('clear');
    expect(() => new SecretBox(first).openText(key, PURPOSE, sealed)).toThrow();
    await expect(verifyMasterKey(app.dataSource, { masterKey: next })).resolves.toBeUndefined();
    await expect(verifyMasterKey(app.dataSource, { masterKey: first })).rejects.toThrow('master key');
    // A process that began before goes on with the seals that it knows.
    await change('after');
    expect(await chainProblem(next)).toBeNull();
    expect(await chainProblem(first, next)).toBeNull();
    await expect(chainProblem(first)).rejects.toThrow('master key');
  });

  it('can be done again and again, and records of all times hold', async () => {
    const keys = [first, aKey(), aKey(), aKey()];
    for (const [at, next] of keys.slice(1).entries()) {
      await change(`under key ${at}`);
      await replaceMasterKey(client, { present: keys[at] as Secret, next });
    }

    expect(await chainProblem(keys.at(-1) as Secret)).toBeNull();
  });

  it('does nothing where it was done, and changes nothing where the present key is not the one of the database', async () => {
    const next = aKey();
    await replaceMasterKey(client, { present: first, next });
    const before = await organizationKey();

    expect(await replaceMasterKey(client, { present: first, next })).toBeNull();
    await expect(replaceMasterKey(client, { present: first, next: aKey() })).rejects.toThrow(
      'GATEHOUSE_MASTER_KEY',
    );
    expect(await organizationKey()).toEqual(before);
  });

  it('is whole or not at all', async () => {
    const before = await organizationKey();
    await client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON installation EXECUTE FUNCTION refuse()`);

    await expect(replaceMasterKey(client, { present: first, next: aKey() })).rejects.toThrow('no room');
    expect(await organizationKey()).toEqual(before);
    expect(await chainProblem(first)).toBeNull();
  });
});
