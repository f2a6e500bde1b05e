import type { CommanderError } from 'commander';
import { allBelow, commandTree } from './commands/command-tree.js';

/**
 * The command `gatehouse`. Each command's modules are loaded when it runs, so that none pays for another. Exit codes: 0 on success, 1 on
 * any failure, 2 on wrong usage, with the reason on standard error, and those that docs/commands.md lists for a command.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  const program = commandTree();
  for (const command of [program, ...allBelow(program)]) command.exitOverride(leave);
  await program.parseAsync(args, { from: 'user' });
}

const WRONG_USAGE = 2;

/** Help and version end with 0. The message of any other end is on standard error already. */
function leave({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? 0 : WRONG_USAGE);
}
