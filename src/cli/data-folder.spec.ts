import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SmallDisk } from '../../test/support/small-disk.js';
import { Secret } from '../common/settings/secret.js';
import { openDataFolder, resolveSecrets } from './data-folder.js';

/** Root may write everywhere but to a read-only disk. */
const isRoot = process.getuid?.() === 0;

describe('the data folder', () => {
  let parent: string;
  let dataDir: string;
  const none = { masterKey: undefined, nextMasterKey: undefined, keyPepper: undefined };

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-folder-'));
    dataDir = join(parent, 'a', 'data');
    await openDataFolder(dataDir);
  });
  afterEach(() => rm(parent, { recursive: true }));

  it('is made with its parents and cannot be listed by others', async () => {
    expect((await stat(dataDir)).mode & 0o066).toBe(0);
  });

  it('is refused in one sentence when something else has its place', async () => {
    await writeFile(join(parent, 'file'), '');

    await expect(openDataFolder(join(parent, 'file'))).rejects.toThrow(
      /file is a file\. Remove it, or set GATEHOUSE_DATA_DIR/,
    );
    await expect(openDataFolder(join(parent, 'file', 'below'))).rejects.toThrow(
      /below is below a file\. .* GATEHOUSE_DATA_DIR/,
    );
  });

  it.runIf(process.platform === 'linux')(
    'is refused without endless retries where the system creates no folders',
    async () => {
      await expect(openDataFolder('/proc/gatehouse/data')).rejects.toThrow(
        /cannot be created: .* GATEHOUSE_DATA_DIR/,
      );
    },
  );

  it('is refused when it is not writable', async ({ skip }) => {
    const disk = isRoot ? SmallDisk.mount(dataDir, 1, 'ro') : null;
    skip(isRoot && !disk, 'Root writes everywhere, and nothing can be mounted here.');
    if (!isRoot) await chmod(dataDir, 0o500);

    await expect(openDataFolder(dataDir).finally(() => disk?.remove())).rejects.toThrow(
      isRoot ? /EROFS/ : /EACCES/,
    );
  });

  it('gets its secrets once: 32 random bytes each, in a file for the owner alone, the same ever after', async () => {
    const first = await resolveSecrets({ dataDir, ...none });
    const again = await resolveSecrets({ dataDir, ...none });

    expect(Buffer.from(first.masterKey.reveal(), 'base64')).toHaveLength(32);
    expect(first.masterKey.reveal()).not.toBe(first.keyPepper.reveal());
    expect(again.masterKey.reveal()).toBe(first.masterKey.reveal());
    expect(again.keyPepper.reveal()).toBe(first.keyPepper.reveal());
    expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['secrets.json']);
  });

  it('writes no secrets when the settings give both, and prefers the settings when they give one', async () => {
    const given = new Secret(Buffer.alloc(32, 'x').toString('base64'));

    expect((await resolveSecrets({ dataDir, ...none, masterKey: given, keyPepper: given })).masterKey).toBe(
      given,
    );
    expect(await readdir(dataDir)).toEqual([]);

    const mixed = await resolveSecrets({ dataDir, ...none, masterKey: given });
    expect(mixed.masterKey).toBe(given);
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toContain(mixed.keyPepper.reveal());
  });

  it('never makes new secrets for a database that has old ones', async () => {
    await mkdir(join(dataDir, 'postgres'));

    await expect(resolveSecrets({ dataDir, ...none })).rejects.toThrow(
      'holds a database but no secrets.json',
    );
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  it('refuses damaged secrets instead of replacing them', async () => {
    await writeFile(join(dataDir, 'secrets.json'), '{"master_key":"dG9vIHNob3J0","key_pepper":"');

    await expect(resolveSecrets({ dataDir, ...none })).rejects.toThrow('are damaged');
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toContain('dG9vIHNob3J0');
  });
});
