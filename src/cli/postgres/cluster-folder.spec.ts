import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeWorkshop, removeUnfinished } from './cluster-folder.js';

/** Creates files in every folder it finds, like initdb, and ends after its time or when nothing is left. */
const ORPHAN = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const [folder, ms] = process.argv.slice(1);
  const end = Date.now() + Number(ms);
  console.log('working');
  for (let n = 0; Date.now() < end; n++)
    try {
      mkdirSync(folder + '/cluster/base/' + (n % 7), { recursive: true });
      writeFileSync(folder + '/cluster/base/' + (n % 7) + '/' + n, '');
    } catch {}
`;

describe('Clusters that were never finished', () => {
  let home: string;
  let folder: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gatehouse-unfinished-'));
    folder = join(home, 'postgres');
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  it('go, and the finished one and what is not ours stay', async () => {
    mkdirSync(folder);
    writeFileSync(join(home, 'postgres.initial'), '');
    writeFileSync(join(await makeWorkshop(folder), 'password'), 'x');
    await makeWorkshop(folder);

    await removeUnfinished(folder);

    expect(readdirSync(home).sort()).toEqual(['postgres', 'postgres.initial']);
  });

  it('go also while the initdb of a killed start still makes files in them', async () => {
    const workshop = await makeWorkshop(folder);
    const orphan = spawn(process.execPath, ['-e', ORPHAN, workshop, '700'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(orphan, 'exit');
    await once(orphan.stdout, 'data');

    await removeUnfinished(folder);
    await ended;
    await removeUnfinished(folder);

    expect(readdirSync(home)).toEqual([]);
  });
});
