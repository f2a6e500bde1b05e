import { describe, expect, it } from 'vitest';
import { Secret } from '../../common/settings/secret.js';
import { LauncherError } from '../launcher-error.js';
import { readChecksums } from './checksums.js';
import { readManifest } from './manifest.js';
import { BackupKeys } from './sealed-secrets.js';

const PASSPHRASE = new Secret('correct horse battery');
const MANIFEST = '{"format":1}';

describe('the secrets of a backup', () => {
  it('open with the passphrase and the manifest that they were sealed with, and with no other', async () => {
    const keys = await BackupKeys.make(PASSPHRASE);
    const sealed = keys.seal(new Secret('{"master_key":"canary"}'), MANIFEST);
    expect(sealed).not.toContain('canary');
    expect((await BackupKeys.of(PASSPHRASE, sealed)).open(sealed, MANIFEST)).toContain('canary');
    const others = await BackupKeys.of(new Secret('another passphrase'), sealed);
    for (const open of [() => others.open(sealed, MANIFEST), () => keys.open(sealed, '{"format":2}')])
      expect(open).toThrow('does not open this backup');
  });

  it('from elsewhere cannot demand all memory of the machine, and show no parser error', async () => {
    const sealed = (await BackupKeys.make(PASSPHRASE)).seal(new Secret('{}'), MANIFEST);
    const changed = (kdf: object): string => {
      const header = JSON.parse(sealed) as { kdf: object };
      return JSON.stringify({ ...header, kdf: { ...header.kdf, ...kdf } });
    };
    const wrong = ['', '{', '[]', '{"version":1}', '{"version":"canary"}'];
    for (const text of [
      ...wrong,
      changed({ n: 2 ** 20 }),
      changed({ r: 16 }),
      changed({ n: 2 }),
      changed({ p: 5 }),
    ])
      await expect(BackupKeys.of(PASSPHRASE, text)).rejects.toThrow('The entry secrets.json cannot be read');
  });
});

describe('entries of a backup in another form', () => {
  it.each([
    ['manifest.json', readManifest],
    ['checksums.json', readChecksums],
  ])('are reported by name, without their content: %s', (entry, read) => {
    for (const text of ['', '{', '{"canary":1}', '{"format":1,"canary":1}', 'null']) {
      expect(() => read(text)).toThrow(LauncherError);
      expect(() => read(text)).toThrow(`The entry ${entry} cannot be read`);
    }
  });
});
