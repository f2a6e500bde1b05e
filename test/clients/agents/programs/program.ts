import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Recipe } from './recipes.js';

/** A coding agent of somebody else, installed from npm by the package of this folder. */
export interface Program {
  /** As docs/clients.md writes it above its recipe. */
  readonly name: string;
  /** Its package. */
  readonly package: string;
  /** Whose models its recipe uses. */
  readonly provider: string;
  /** Below `node_modules`; the first that is installed. */
  readonly executables: readonly string[];
  /** For one prompt, without questions to a user. */
  readonly options: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** One run of a program. */
export interface ProgramRun {
  readonly output: string;
  /** Null when it was killed, because it ran longer than it may. */
  readonly exitCode: number | null;
  /** The awaited text appeared in the output. */
  readonly hasShown: boolean;
  /** The file that the shell tool creates is there. */
  readonly hasRunTool: boolean;
}

interface RunOptions {
  readonly base: string;
  readonly apiKey: string;
  readonly recipe: Recipe;
  readonly awaited: string;
  readonly limitMs: number;
  /** Whether the program is to be killed before that, asked four times a second. */
  readonly isOver?: () => boolean;
  /** Called when the awaited text appears. */
  readonly onShown?: () => void;
}

const INSTALLED = join(import.meta.dirname, 'node_modules');
/** The file that the tool of a scripted model creates in the working folder. */
export const TOOL_FILE = 'tool-ran';
/** A closed port: no program may reach anything but the gateway. */
const NOWHERE = 'http://127.0.0.1:9';

/** Runs a program with a home folder of its own, as its recipe says. */
export async function run(program: Program, options: RunOptions): Promise<ProgramRun> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-program-'));
  try {
    return await runIn(home, program, options);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runIn(home: string, program: Program, options: RunOptions): Promise<ProgramRun> {
  const work = join(home, 'work');
  mkdirSync(work);
  for (const [path, text] of Object.entries(options.recipe.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const script = `set -e\n${options.recipe.commands}\nexec "$@"`;
  const child = spawn('bash', ['-c', script, 'bash', ...executableOf(program), ...program.options], {
    cwd: work,
    env: environmentOf(home, program, options),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  let output = '';
  let hasShown = false;
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (hasShown || !flat(output).includes(flat(options.awaited))) return;
    hasShown = true;
    options.onShown?.();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const limit = setTimeout(kill, options.limitMs);
  const watch = setInterval(() => options.isOver?.() === true && kill(), 250);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  clearInterval(watch);
  return { output, exitCode, hasShown, hasRunTool: existsSync(join(work, TOOL_FILE)) };
}

/** Without escape sequences and line breaks, because terminals wrap what programs print. */
const flat = (text: string): string =>
  text
    .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '')
    .replaceAll('\\"', '"')
    .replaceAll(/\s+/g, ' ');

/** The command that starts an installed program. */
export function executableOf({ name, executables }: Program): readonly string[] {
  const path = executables.map((it) => join(INSTALLED, it)).find(existsSync);
  if (path === undefined)
    throw new Error(`${name} is not installed. Run npm ci --ignore-scripts in ${import.meta.dirname}.`);
  return /\.c?js$/.test(path) ? [process.execPath, path] : [path];
}

function environmentOf(
  home: string,
  program: Program,
  { base, apiKey }: RunOptions,
): Readonly<Record<string, string>> {
  return {
    HOME: home,
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    TERM: 'dumb',
    BASE: base,
    WORKSPACE_API_KEY: apiKey,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
    ...program.environment,
  };
}
