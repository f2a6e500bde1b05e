import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/check-type-names.mjs');

describe('the check of type names', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'type-names-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }

  function check(): { status: number | null; stderr: string } {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', root], { encoding: 'utf8' });
    return { status, stderr };
  }

  it('fails for a name that two files export, and names both', async () => {
    await write('src/a/one.ts', 'export interface Place {}\n');
    await write('src/b/two.ts', 'export type Place = string;\n');

    const { status, stderr } = check();

    expect(status).toBe(1);
    expect(stderr).toContain('"Place" is exported by src/a/one.ts, src/b/two.ts.');
  });

  it('fails for a bare participle, exported or not', async () => {
    await write(
      'src/a.ts',
      'export interface Asked {}\ninterface Sending {}\nexport class Found {}\ntype Told = string;\n',
    );

    const { status, stderr } = check();

    expect(status).toBe(1);
    for (const name of ['Asked', 'Sending', 'Found', 'Told'])
      expect(stderr).toContain(`src/a.ts: "${name}" is a bare participle`);
  });

  it('fails for a private type, also within a function, with the name of an exported one, and names both', async () => {
    await write('src/a/one.ts', 'export class Place {}\n');
    await write('src/b/two.ts', 'export function two(): void {\n  interface Place {}\n}\n');

    const { status, stderr } = check();

    expect(status).toBe(1);
    expect(stderr).toContain('"Place" of src/a/one.ts is also declared by src/b/two.ts.');
  });

  it('allows the data plane a private type with the name of an exported one of the control plane', async () => {
    await write('src/gateway/one.ts', 'interface Place {}\n');
    await write('src/admin/two.ts', 'export interface Place {}\n');

    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  it('allows nouns, participles with a subject, one name in private twice, and names of specs', async () => {
    await write(
      'src/a.ts',
      'export interface Recording {}\nexport type SentRow = string;\ntype Options = string;\n',
    );
    await write('src/b.ts', 'type Options = number;\nexport const sent = (one: Options): Options => one;\n');
    await write('src/b.spec.ts', 'export interface Recording {}\n');

    expect(check()).toEqual({ status: 0, stderr: '' });
  });
});
