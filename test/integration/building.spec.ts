import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/waiting.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** What builds, and what it reads. The sources are others, and few. */
const TOOLS = ['bin', 'scripts', 'package.json', 'nest-cli.json', '.swcrc', 'tsconfig.json'];
const SOURCES: Readonly<Record<string, string>> = {
  'main.ts': "export const program: string = 'main';",
  'administration.ts': "export const program: string = 'administration';",
  'worker.ts': "export const program: string = 'worker';",
  'cli/cli.ts': "export const runCommand = async (): Promise<void> => console.log('started');",
};

/** What the build of the dashboard reads, as few. */
const DASHBOARD: Readonly<Record<string, string>> = {
  'package-lock.json': '{}',
  'dashboard/package.json': '{ "type": "module" }',
  'dashboard/vite.config.ts': 'export default {};',
  'dashboard/index.html': '<script type="module" src="/src/main.ts"></script>',
  'dashboard/src/main.ts': "document.title = 'dashboard';",
};

let folder: string;
let running: ChildProcess[];

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function write(sources: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(sources)) {
    mkdirSync(join(folder, 'src', 'cli'), { recursive: true });
    writeFileSync(join(folder, 'src', name), text);
  }
}

function run(program: string): { child: ChildProcess; said: () => string; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [join(folder, program)], { cwd: folder });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)));
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, output })));
  return { child, said: () => output, ended };
}

const prepare = () => run('scripts/prepare.mjs');
const start = () => run('bin/gatehouse.mjs');
const isBuilt = (): boolean => existsSync(join(folder, 'dist', '.built'));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-checkout-'));
  for (const name of TOOLS) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  mkdirSync(join(folder, 'dashboard', 'src'), { recursive: true });
  for (const [name, text] of Object.entries(DASHBOARD)) writeFileSync(join(folder, name), text);
});
beforeEach(() => {
  running = [];
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  write(SOURCES);
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('the end of an installation', () => {
  it('builds, so that the first start need not', async () => {
    expect(await prepare().ended).toMatchObject({ code: 0 });
    expect(isBuilt()).toBe(true);
    expect(existsSync(join(folder, 'dist', 'dashboard', 'index.html'))).toBe(true);
    expect(await start().ended).toEqual({ code: 0, output: 'started\n' });
  });

  it('succeeds without a compiler, and with sources that do not compile, of which the start speaks', async () => {
    write({ 'main.ts': 'this is no program' });
    const { code, output } = await prepare().ended;
    expect([code, isBuilt()]).toEqual([0, false]);
    expect(output).toContain('The build failed. It is tried again at the first start.');
    const refused = await start().ended;
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('main.ts');
    expect(refused.output).toMatch(/\nThe build failed\.\n$/);

    rmSync(join(folder, 'node_modules'));
    expect(await prepare().ended).toEqual({ code: 0, output: '' });
  });
});

describe('a build', () => {
  it('is made once when two start at the same time, and both find it whole', async () => {
    const both = await Promise.all([start().ended, start().ended]);
    for (const { code, output } of both) {
      expect(code).toBe(0);
      expect(output).toMatch(/started\n$/);
    }
    expect(both.filter(({ output }) => output.includes('Building ...'))).toHaveLength(1);
  });

  it('that was killed does not block the next start, which creates it once the remaining processes have ended', async () => {
    const killed = start();
    await eventually(() => killed.said().includes('Building ...'), { what: 'the build to begin' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(isBuilt()).toBe(false);
    const { code, output } = await start().ended;
    expect(code).toBe(0);
    expect(output).toMatch(/started\n$/);
  });
});
