import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const CHECK = join(import.meta.dirname, '../../scripts/check-rooms.mjs');
const ROOMS = ['admin', 'admin/logs', 'common', 'gateway', 'providers'];

describe('the rule against circles between the parts of a folder', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'import-rules-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }

  function check(): { status: number | null; stdout: string } {
    const { status, stdout } = spawnSync(process.execPath, [CHECK, 'src'], { cwd: root, encoding: 'utf8' });
    return { status, stdout };
  }

  it('reports two folders that import each other, at every depth, by different files and for types alone', async () => {
    for (const room of ROOMS) {
      await write(`src/${room}/one/a.ts`, "import type { B } from '../two/b.js';\nexport type A = B;\n");
      await write(`src/${room}/two/b.ts`, 'export type B = string;\n');
      await write(`src/${room}/two/c.ts`, "import type { D } from '../one/d.js';\nexport type C = D;\n");
      await write(`src/${room}/one/d.ts`, 'export type D = string;\n');
    }

    const { status, stdout } = check();

    expect(status).toBe(1);
    for (const room of ROOMS) expect(stdout).toContain(`src/${room}: one, two import each other`);
  });

  it('reports a file and the folder beside it, also by an export and by a dynamic import', async () => {
    await write('src/admin/ports.ts', "export { b } from './two/b.js';\n");
    await write('src/admin/two/b.ts', 'export const b = 1;\n');
    await write('src/admin/two/c.ts', "export const c = () => import('../ports.js');\n");

    const { status, stdout } = check();

    expect(status).toBe(1);
    expect(stdout).toContain('src/admin: ports.ts, two import each other');
    expect(stdout).toContain('src/admin/two/c.ts imports src/admin/ports.ts');
  });

  it('reports folders of different depth that import each other', async () => {
    await write('src/admin/one/a.ts', "import '../../gateway/deep/b.js';\n");
    await write('src/gateway/deep/b.ts', 'export const b = 1;\n');
    await write('src/gateway/c.ts', "import '../admin/d.js';\n");
    await write('src/admin/d.ts', 'export const d = 1;\n');

    expect(check().stdout).toContain('src: admin, gateway import each other');
  });

  it('lets arrows go one way', async () => {
    await write('src/admin/one/a.ts', "import type { B } from '../two/b.js';\nexport type A = B;\n");
    await write('src/admin/two/b.ts', 'export type B = string;\n');

    expect(check()).toEqual({ status: 0, stdout: 'No circle between the parts of a folder in src.\n' });
  });

  it('does not read tests, which may import anything', async () => {
    await write('src/admin/one/a.spec.ts', "import '../two/b.js';\n");
    await write('src/admin/two/b.ts', "import '../one/c.js';\n");
    await write('src/admin/one/c.ts', 'export const c = 1;\n');

    expect(check().status).toBe(0);
  });
});
