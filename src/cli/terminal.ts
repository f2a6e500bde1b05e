import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SettingsError } from '../common/settings/settings.js';
import { LauncherError } from './launcher-error.js';

const STDOUT = 1;
const STDERR = 2;

/** Prints output for the operator. Synchronous, so that it is written before the process ends. */
export function say(text: string): void {
  put(STDOUT, text);
}

/** Prints an error: why the command failed. */
export function complain(text: string): void {
  put(STDERR, text);
}

/** An operator's mistake as its message; our own faults with their stack. */
export function explain(thrown: unknown): string {
  if (thrown instanceof LauncherError || thrown instanceof SettingsError) return thrown.message;
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** Asks for a confirmation on the terminal. Throws a LauncherError without one. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new LauncherError(
      'This cannot be confirmed without a terminal. Nothing was changed; add --yes to confirm it.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** Asks for a secret on the terminal, without showing what is typed. Throws a LauncherError without a terminal. */
export async function askHidden(question: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new LauncherError(
      'There is no terminal to ask for the passphrase. Give it with --passphrase-file or --passphrase-env.',
    );
  write(STDERR, question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    write(STDERR, '\n');
  }
}

/** Rows under their headings, with columns as wide as their widest cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) => (cells[column] ?? '').padEnd(width))
      .join('  ')
      .trimEnd();
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const BAR_WIDTH = 30;
const PERCENT = 100;

/** A progress bar on standard error; without a terminal, a line for every tenth. */
export class ProgressBar {
  private tenth = 0;

  constructor(private readonly what: string) {}

  show(done: number, total: number): void {
    const share = total === 0 ? 1 : done / total;
    const progressLine = `${this.what}: ${Math.floor(share * PERCENT)} % (${done} of ${total})`;
    if (process.stderr.isTTY) {
      const filled = Math.round(share * BAR_WIDTH);
      write(STDERR, `\r[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${progressLine}`);
    } else if (Math.floor(share * 10) > this.tenth) {
      this.tenth = Math.floor(share * 10);
      complain(progressLine);
    }
  }

  end(): void {
    if (process.stderr.isTTY) write(STDERR, '\n');
  }
}

function put(fd: number, text: string): void {
  write(fd, `${text}\n`);
}

/** A closed terminal (a broken pipe) must not stop the service. */
function write(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    return;
  }
}
