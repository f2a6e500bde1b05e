import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const CRUISER = join(PROJECT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
const RULES = join(PROJECT, '.dependency-cruiser.folders.cjs');
const ROOMS = ['admin', 'admin/logs', 'common', 'gateway', 'providers'];

describe('the rule against circles between folders', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'import-rules-'));
    await writeFile(
      join(root, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { module: 'nodenext', target: 'es2023' }, include: ['src'] }),
    );
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }

  function check(): { status: number | null; stdout: string } {
    const { status, stdout } = spawnSync(process.execPath, [CRUISER, 'src', '--config', RULES], {
      cwd: root,
      encoding: 'utf8',
    });
    return { status, stdout };
  }

  it('reports two folders that need each other, in every room, by different files and for types alone', async () => {
    for (const room of ROOMS) {
      await write(`src/${room}/one/a.ts`, "import type { B } from '../two/b.js';\nexport type A = B;\n");
      await write(`src/${room}/two/b.ts`, 'export type B = string;\n');
      await write(`src/${room}/two/c.ts`, "import type { D } from '../one/d.js';\nexport type C = D;\n");
      await write(`src/${room}/one/d.ts`, 'export type D = string;\n');
    }

    const { status, stdout } = check();

    expect(status).not.toBe(0);
    for (const room of ROOMS)
      expect(stdout).toMatch(new RegExp(`no-circles-between-folders: src/${room}/(one|two)`));
  });

  it('lets arrows go one way', async () => {
    await write('src/admin/one/a.ts', "import type { B } from '../two/b.js';\nexport type A = B;\n");
    await write('src/admin/two/b.ts', 'export type B = string;\n');

    const { status, stdout } = check();

    expect(stdout).toContain('no dependency violations');
    expect(status).toBe(0);
  });
});
