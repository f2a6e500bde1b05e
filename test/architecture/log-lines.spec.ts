import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = resolve(import.meta.dirname, '../../src');

const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }));

/** Calls of a logger, and of the helpers that log for it; the failure of an interval job is logged too. */
const CALL =
  /(?:\b(?:log|logger)|#log|#logger)\.(?:info|warn|error|fatal)\(([\s\S]*?)\);|\breport\(([\s\S]*?)\);|\bfailure: ('[^'\n]*'|`[^`]*`)/gi;
const TEXT = /'((?:[^'\\\n]|\\.){9,})'|`([^`]{9,})`/g;

interface LogLine {
  readonly path: string;
  readonly message: string;
}

function linesIn({ path, text }: (typeof sources)[number]): LogLine[] {
  return [...text.matchAll(CALL)].flatMap(([call]) => {
    const last = [...call.matchAll(TEXT)].at(-1);
    return last ? [{ path, message: last[1] ?? last[2] ?? '' }] : [];
  });
}

const lines = sources.filter(({ text }) => /createLogger|logger\b/.test(text)).flatMap(linesIn);

describe('the lines of the log', () => {
  it('are found in the sources', () => {
    expect(lines.length).toBeGreaterThan(80);
  });

  it('are sentences: a capital first, and a full stop at the end', () => {
    const wrong = lines.filter(({ message }) => !/^(?:[A-Z$]|log_)[\s\S]*(?:\.|\})$/.test(message));

    expect(wrong).toEqual([]);
  });

  it('name their fields in snake case', () => {
    const fields = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:logger|log|#log|#logger)\.(?:info|warn|error|fatal)\(\s*\{([^}]*)\}/g)].flatMap(
        ([, inside = '']) =>
          inside
            .split(',')
            .map((field) => (field.split(':')[0] ?? '').trim())
            .filter((name) => /^[a-z]+[A-Z]/.test(name))
            .map((name) => `${path}: ${name}`),
      ),
    );

    expect(fields).toEqual([]);
  });
});
