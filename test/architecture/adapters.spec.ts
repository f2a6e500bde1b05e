import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);

const ADAPTERS = filesIn('src/adapters').filter((file) => /\/(postgres|redis)-[\w-]+\.ts$/.test(file));
/** What the integration tests import, themselves or by the support that they share. */
const imports = [...filesIn('test/integration'), ...filesIn('test/support')]
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');

it.each(ADAPTERS)('%s is imported by an integration test, which runs on the real store', (file) => {
  expect(imports).toContain(`/${file.slice(0, -'.ts'.length)}.js'`);
});

it('are all adapters of PostgreSQL and Redis', () => {
  expect(ADAPTERS.length).toBeGreaterThan(15);
});
