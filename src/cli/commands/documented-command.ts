import type { Command } from 'commander';
import { LauncherError } from '../launcher-error.js';
import { complain, explain } from '../terminal.js';

/** Exit codes and what they mean. */
export type ExitCodes = Readonly<Record<number, string>>;

/** Of every command. A command's own codes come beside or replace them. */
export const COMMON_EXIT_CODES: ExitCodes = {
  0: 'success',
  1: 'failure; standard error says why',
  2: 'wrong usage',
};

const documented = new WeakMap<
  Command,
  { readonly examples: readonly string[]; readonly exitCodes: ExitCodes }
>();

/** Shows examples and exit codes below the options of a command, and gives them to docs/commands.md. */
export function documentCommand(
  command: Command,
  examples: readonly string[],
  ownExitCodes: ExitCodes = {},
): Command {
  const exitCodes = { ...COMMON_EXIT_CODES, ...ownExitCodes };
  documented.set(command, { examples, exitCodes });
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `${code}  ${meaning}`);
  return command.addHelpText('after', `${helpBlock('Example', examples)}${helpBlock('Exit code', codes)}`);
}

export const documentationOf = (
  command: Command,
): { readonly examples: readonly string[]; readonly exitCodes: ExitCodes } =>
  documented.get(command) ?? { examples: [], exitCodes: COMMON_EXIT_CODES };

/** Shown below the options of a command, one per line. */
export const helpBlock = (heading: string, lines: readonly string[]): string =>
  ['', lines.length === 1 ? `${heading}:` : `${heading}s:`, ...lines.map((line) => `  ${line}`), ''].join(
    '\n',
  );

/** The option of commands that report something. */
export const reportsAsJson = (command: Command): Command =>
  command.option('--json', 'print one JSON document on standard output, and text on standard error');

/** Ends the process explicitly: a forgotten timer must not keep a stopped service alive. */
export async function finish(command: Promise<number>): Promise<void> {
  try {
    process.exit(await command);
  } catch (error) {
    complain(explain(error));
    process.exit(error instanceof LauncherError ? error.exitCode : 1);
  }
}
