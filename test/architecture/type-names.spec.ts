import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/check-type-names.mjs');

describe('the check of names', () => {
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

  it('fails for a type that two files export, and names both', async () => {
    await write('src/a/one.ts', 'export interface Place {}\n');
    await write('src/b/two.ts', 'export type Place = string;\n');

    const { status, stderr } = check();

    expect(status).toBe(1);
    expect(stderr).toContain('"Place" is declared by src/a/one.ts, src/b/two.ts.');
  });

  it('fails for a function or constant that two files export, and names both', async () => {
    await write('src/a/one.ts', 'export function pathOf(): void {}\nexport const LIMIT = 1;\n');
    await write('src/b/two.ts', 'export const pathOf = (): number => 1, LIMIT = 2;\n');

    const { status, stderr } = check();

    expect(status).toBe(1);
    for (const name of ['pathOf', 'LIMIT'])
      expect(stderr).toContain(`"${name}" is exported by src/a/one.ts, src/b/two.ts.`);
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

  it('fails for types that are private, within a function, in a test, or in planes that never meet', async () => {
    await write('src/gateway/one.ts', 'interface Place {}\nclass Node {}\n');
    await write('src/admin/two.ts', 'export function two(): void {\n  interface Place {}\n}\n');
    await write('src/admin/two.spec.ts', 'type Node = string;\n');

    const { status, stderr } = check();

    expect(status).toBe(1);
    expect(stderr).toContain('"Place" is declared by src/admin/two.ts, src/gateway/one.ts.');
    expect(stderr).toContain('"Node" is declared by src/admin/two.spec.ts, src/gateway/one.ts.');
  });

  it('allows nouns, participles with a subject, private functions, overloads and types of a package', async () => {
    await write(
      'src/a.ts',
      'export interface Recording {}\nexport type SentRow = string;\nfunction read(): void {}\n' +
        'export function one(a: string): void;\nexport function one(a: number): void;\nexport function one(): void {}\n' +
        "declare module 'x' {\n  interface Commands {}\n}\n",
    );
    await write('src/b.ts', "function read(): void {}\ndeclare module 'x' {\n  interface Commands {}\n}\n");

    expect(check()).toEqual({ status: 0, stderr: '' });
  });
});
