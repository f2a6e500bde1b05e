import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** A fenced block of a page. */
export interface DocumentedBlock {
  /** Page and line of the fence: `docs/limits.md:5`. */
  readonly place: string;
  /** The word behind the fence, such as `sh`; empty where there is none. */
  readonly language: string;
  readonly text: string;
  /** Why the block cannot run in a test, from `<!-- not run: reason -->` on the line above it; else null. */
  readonly notRun: string | null;
  /** The status of a refusal that the block shows on purpose, from `<!-- answers: 446 -->` on the line above it; else null. */
  readonly answers: number | null;
}

/** README first, because its exports hold for all pages. */
export const documentedPages = (): readonly string[] => [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
];

/** The fenced blocks of a page, in their order. */
export function documentedBlocks(page: string): readonly DocumentedBlock[] {
  return blocksIn(page, readFileSync(join(ROOT, page), 'utf8'));
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

export function blocksIn(page: string, markdown: string): readonly DocumentedBlock[] {
  return [...markdown.matchAll(FENCE)].map(({ 1: language = '', 2: text = '', index }) => {
    const before = markdown.slice(0, index).split('\n');
    const above = before.slice(-3).join('\n');
    const status = /<!-- answers: (\d{3}) -->\s*$/.exec(above)?.[1];
    return {
      place: `${page}:${before.length}`,
      language,
      text,
      notRun: /<!-- not run: (.+?) -->\s*$/.exec(above)?.[1] ?? null,
      answers: status === undefined ? null : Number(status),
    };
  });
}
