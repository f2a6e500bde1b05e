import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/check-words.mjs');

describe('the word list', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'words-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }

  function check(...options: readonly string[]): { status: number | null; stderr: string } {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', root, ...options], {
      encoding: 'utf8',
    });
    return { status, stderr };
  }

  it.each([
    ['a page', 'docs/limits.md', 'Nobody knows the price.'],
    ['a page, across a line break', 'README.md', 'Nobody\nknows the price.'],
    [
      'an error',
      'src/common/errors/catalog.ts',
      "export const E = { a: { title: 'Price unknown', message: 'Nobody knows the price.' } };",
    ],
    [
      "an error's detail",
      'src/a/b.ts',
      "throw new AppError('conflict', { detail: 'Nobody knows the price.' });",
    ],
    ['a template of the CLI', 'src/cli/a.ts', 'export const a = (b: string) => `Nobody knows ${b}.`;'],
    ['the OpenAPI document', 'openapi.json', '{"info":{"description":"Nobody knows."}}'],
  ])('fails for a retired word in %s and says what to write', async (_, path, content) => {
    await write(path, content);

    const { status, stderr } = check();

    expect(status).toBe(1);
    expect(stderr).toContain('Write: the passive');
  });

  it('fails for a retired word in the name of a case, a group, a table of cases and a template', async () => {
    const named = {
      'src/a.spec.ts': "it('hears of it', () => {});",
      'test/b.e2e-spec.ts': "describe('it hears of it', () => {});",
      'test/c.spec.ts': "it.skipIf(true).each([1])('hears of it', () => {});",
      'dashboard/src/d.spec.ts': 'test(`hears of ${1}`, () => {});',
      'dashboard/test/e.browser-spec.ts': "it('answers', () => {});",
    };
    for (const [path, content] of Object.entries(named)) await write(path, content);

    const { status, stderr } = check();

    expect(status).toBe(1);
    for (const path of Object.keys(named))
      expect(stderr).toMatch(new RegExp(`^${path}: ".+" is retired`, 'm'));
  });

  it('reads only test names, without placeholders, and never across two names', async () => {
    const cases = [
      "it('works with $shape.name of $answer', () => expect('it hears').toBe(told('answers')));",
      "describe('a rate is', () => it('over', () => {}));",
      "it('away', () => {});",
    ];
    await write('src/a.spec.ts', cases.join('\n'));
    await write('README.md', 'A process answers.');

    expect(check().stderr).toBe(
      'src/a.spec.ts: "away" is retired. Write: unavailable (1 found, 0 allowed)\n',
    );
  });

  it('fails for a retired word in the name of a type, a function, a field and a variable', async () => {
    const declared = {
      'src/a.ts': 'export interface NewcomerRow {}',
      'src/b.ts': 'export function hearsOfIt(): void {}',
      'src/c.ts': 'class A {\n  readonly #oldShape = 1;\n}',
      'dashboard/src/d.tsx': 'const { row: wanted } = read();',
    };
    for (const [path, content] of Object.entries(declared)) await write(path, content);

    const { status, stderr } = check();

    expect(status).toBe(1);
    for (const path of Object.keys(declared))
      expect(stderr).toMatch(new RegExp(`^${path}: ".+" is retired`, 'm'));
  });

  it('reads only the declared names: no wire name, use, spec or migration, and never across two names', async () => {
    await write(
      'src/a.ts',
      'export const is = (row: { told_by: string }) => { const over = wanted(row.told_by); };',
    );
    await write('src/b.ts', 'export const notFound = wantedFields;');
    await write('src/c.spec.ts', 'const wanted = 1;');
    await write('src/schema/migrations/1-a.ts', 'const wanted = 1;');

    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  it('leaves code and addresses out', async () => {
    await write('README.md', '`nobody knows` [a](docs/nobody-knows.md)\n\n```\nnobody knows\n```\n');

    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  it('allows what the baseline counts, and no more', async () => {
    await write('README.md', 'It is away. It is away.');
    await write('scripts/words/baseline.json', '{"README.md":{"(is|are|was|were|be) away":2}}');
    expect(check().status).toBe(0);

    await write('README.md', 'It is away. It is away. It is away.');

    expect(check().status).toBe(1);
  });

  it('lowers the baseline and never raises it', async () => {
    await write('README.md', 'It is away. Nobody knows.');
    await write('scripts/words/baseline.json', '{"README.md":{"(is|are|was|were|be) away":2}}');

    check('--update');

    const baseline: unknown = JSON.parse(await readFile(join(root, 'scripts/words/baseline.json'), 'utf8'));
    expect(baseline).toEqual({ 'README.md': { '(is|are|was|were|be) away': 1 } });
  });

  it('fails for a line of prose beyond 120 characters, and not for tables and code', async () => {
    const long = 'word '.repeat(30);
    await write('README.md', `| ${long} |\n\n\`\`\`\n${long}\n\`\`\`\n`);
    expect(check().status).toBe(0);

    await write('README.md', `${long}\n`);

    expect(check().stderr).toContain('Break line 1 (1 found, 0 allowed)');
  });
});
