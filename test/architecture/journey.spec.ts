import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const DOCS = join(import.meta.dirname, '../../docs');
const FILES_MAX = 25;

describe('the page about the architecture', () => {
  it('names files that exist', async () => {
    const page = await readFile(join(DOCS, 'architecture.md'), 'utf8');
    const links = [...page.matchAll(/\]\((\.\.\/src\/[^)#]+)\)/g)].map(([, link]) => String(link));

    expect(links.length).toBeGreaterThan(FILES_MAX);
    for (const link of links) await expect(access(join(DOCS, link)), link).resolves.toBeUndefined();
  });

  it(`shows the path of a chat completion in at most ${FILES_MAX} files`, async () => {
    const page = await readFile(join(DOCS, 'architecture.md'), 'utf8');
    const [, part = ''] = page.split('## The path of a chat completion in files');
    const [list = ''] = part.split('\n## ');
    const files = list.match(/^\d+\. \[src\//gm) ?? [];

    expect(files.length).toBeGreaterThan(10);
    expect(files.length).toBeLessThanOrEqual(FILES_MAX);
  });
});
