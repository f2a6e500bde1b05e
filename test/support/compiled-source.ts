import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** The source, compiled into a folder of its own, for tests that need processes to kill. */
export interface CompiledSource {
  /** Path of a compiled file: `at('worker.js')`. */
  at(file: string): string;
  /** Writes a program into the folder, and answers its path. Imports below `./` are those of `src`. */
  program(name: string, text: string): string;
  remove(): void;
}

export function compileSource(): CompiledSource {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-compiled-'));
  execFileSync(join(ROOT, 'node_modules/.bin/swc'), ['src', '-d', folder, '--strip-leading-paths', '-q'], {
    cwd: ROOT,
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","version":"0.0.0"}');
  return {
    at: (file) => join(folder, file),
    program: (name, text) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
