/**
 * Keeps retired words out of the texts that users read, and lines of prose within 120 characters. `scripts/words/retired.json` says what to
 * write instead; `scripts/words/baseline.json` counts what stands in texts that were not edited yet. Fails when a count rises. With
 * `--update` it lowers the counts to what is there, and never raises one.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pagesOf, textsOf } from './words/texts.mjs';

const LINE_LIMIT = 120;
const { values } = parseArgs({ options: { root: { type: 'string' }, update: { type: 'boolean', default: false } } });
const root = resolve(values.root ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const retiredUrl = new URL('words/retired.json', import.meta.url);
const baselinePath = join(root, 'scripts/words/baseline.json');

const retired = JSON.parse(await readFile(retiredUrl, 'utf8'));
const baseline = JSON.parse(await readFile(baselinePath, 'utf8').catch(() => '{}'));
const problems = [];
const counts = {};

for (const [name, text] of await textsOf(root)) {
  for (const { words, instead } of retired) {
    const found = text.match(new RegExp(`\\b(?:${words.replaceAll(' ', '\\s+')})\\b`, 'gi')) ?? [];
    const allowed = baseline[name]?.[words] ?? 0;
    if (found.length > allowed) problems.push(`${name}: "${found[0]}" (${found.length} times, ${allowed} allowed). Write: ${instead}`);
    const kept = Math.min(found.length, allowed);
    if (kept > 0) (counts[name] ??= {})[words] = kept;
  }
}

/** Prose that could be broken: no table, heading, address on its own, code or picture. */
const isProse = (line) => !/^(\||#|<|!\[|\s*[-*]?\s*\S+$)/.test(line);

for (const [path, content] of await pagesOf(root)) {
  const withoutCode = content.replace(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  withoutCode.split('\n').forEach((line, index) => {
    if (line.length > LINE_LIMIT && isProse(line) && /\s/.test(line.slice(0, LINE_LIMIT).trim())) {
      problems.push(`${path}:${index + 1}: the line has ${line.length} characters, at most ${LINE_LIMIT} are allowed. Break it.`);
    }
  });
}

if (values.update) await writeFile(baselinePath, `${JSON.stringify(counts, null, 2)}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
