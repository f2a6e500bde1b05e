import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/adding-a-resource.md'), 'utf8');
/** Files of the invented resource, or whose name has a part to fill in. */
const INVENTED = /labels?[./]|<|\*/;

const files = [...PAGE.matchAll(/`((?:src|test|docs|scripts)\/[\w./<>*-]+\.\w+)`/g)].map(
  ([, file = '']) => file,
);
const MOST_FILES = 10;

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`);

describe('docs/adding-a-resource.md', () => {
  it('names only files that exist', () => {
    const existing = files.filter((file) => !INVENTED.test(file));
    expect(existing.length).toBeGreaterThan(10);
    expect(existing.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('lists at most ten files to write', () => {
    const listed = [...PAGE.matchAll(/^\| `([^`]+)` \|/gm)].map(([, file]) => file);
    expect(listed.length).toBeGreaterThan(5);
    expect(listed.length).toBeLessThanOrEqual(MOST_FILES);
  });

  it.each(['log-views', 'audit-destinations', 'feedback'])(
    'lists every file that imports from a resource without dependents, such as %s',
    (resource) => {
      const importing = sourcesIn('src').filter(
        (file) =>
          !file.startsWith(`src/admin/${resource}/`) &&
          readFileSync(join(ROOT, file), 'utf8').includes(`/${resource}/`),
      );
      expect(importing.length).toBeGreaterThan(0);
      expect(importing.filter((file) => !files.includes(file))).toEqual([]);
    },
  );
});
