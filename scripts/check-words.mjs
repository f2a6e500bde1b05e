/**
 * Keeps retired words out of the texts that users read, out of test names and out of the names that the code declares, and lines of prose
 * within 120 characters. `scripts/words/retired.json` lists the words and their replacements; a rule for one kind of text alone has
 * `onlyIn`. `scripts/words/baseline.json` counts their occurrences in texts that were not edited yet. Fails when a count rises. `--update`
 * lowers the counts to the current ones, and never raises one.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { identifiersOf } from './words/identifiers.mjs';
import { testNamesOf } from './words/test-names.mjs';
import { pagesOf, textsOf } from './words/texts.mjs';

const LINE_LIMIT = 120;
const LONG_LINES = `lines over ${LINE_LIMIT}`;
const { values } = parseArgs({
  options: { root: { type: 'string' }, update: { type: 'boolean', default: false } },
});
const root = resolve(values.root ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const retiredUrl = new URL('words/retired.json', import.meta.url);
const baselinePath = join(root, 'scripts/words/baseline.json');

const retired = JSON.parse(await readFile(retiredUrl, 'utf8'));
const baseline = JSON.parse(await readFile(baselinePath, 'utf8').catch(() => '{}'));
const problems = [];
const counts = {};

/** Compares the findings in one text with its baseline. */
function judge(name, rule, found, problem) {
  const allowed = baseline[name]?.[rule] ?? 0;
  if (found.length > allowed)
    problems.push(`${name}: ${problem} (${found.length} found, ${allowed} allowed)`);
  const kept = Math.min(found.length, allowed);
  if (kept > 0) (counts[name] ??= {})[rule] = kept;
}

/** Judges the texts of one kind. A rule with `onlyIn` is for texts of that kind alone. */
function judgeTexts(kind, texts) {
  const rules = retired.filter(({ onlyIn }) => onlyIn === undefined || onlyIn === kind);
  for (const [name, text] of texts) {
    for (const { words, instead } of rules) {
      const found = text.match(new RegExp(`\\b(?:${words.replaceAll(' ', '\\s+')})\\b`, 'gi')) ?? [];
      judge(name, words, found, `"${found[0]}" is retired. Write: ${instead}`);
    }
  }
}

judgeTexts('texts', await textsOf(root));
judgeTexts('test names', await testNamesOf(root));
judgeTexts('identifiers', await identifiersOf(root));

/** Prose that could be wrapped: not a table, heading, bare URL, markup or image. */
const isProse = (line) => !/^(\||#|<|!\[|\s*[-*]?\s*\S+$)/.test(line);

for (const [path, content] of await pagesOf(root)) {
  const withoutCode = content.replace(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  const lines = withoutCode.split('\n').map((line, index) => ({ line, place: index + 1 }));
  const long = lines.filter(({ line }) => line.length > LINE_LIMIT && isProse(line));
  const places = long.map(({ place }) => place).join(', ');
  judge(path, LONG_LINES, long, `lines of prose have at most ${LINE_LIMIT} characters. Break line ${places}`);
}

if (values.update) await writeFile(baselinePath, `${JSON.stringify(counts, null, 2)}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
