import { Command } from 'commander';
import { didYouMean } from '../../common/text/nearest-names.js';
import { VERSION } from '../../common/version.js';
import { backupCommands } from './backup-commands.js';
import { bookCommands, priceCommands } from './book-commands.js';
import { completionCommand } from './completion-command.js';
import { helpBlock } from './documented-command.js';
import { accessCommands, declaredCommands } from './organization-commands.js';
import { diagnosticCommands, runningCommands, secretCommands } from './running-commands.js';

const EXAMPLES = [
  'gatehouse start                    run Gatehouse; settings come from the environment (docs/settings.md)',
  'gatehouse doctor                   check settings, machine and services',
  'gatehouse export > gatehouse.yaml  print the organization as a file',
  'gatehouse apply -f gatehouse.yaml  apply the file',
  'gatehouse help apply               show the options of a command',
];

/** The command `gatehouse` with all its commands, from which parsing, help, completion and docs/commands.md come. */
export function commandTree(): Command {
  const program = new Command('gatehouse')
    .description('The AI gateway with its administration built in.')
    .version(VERSION, '-v, --version')
    .helpCommand('help [command]', 'show the options of a command')
    .addHelpText('after', helpBlock('Example', EXAMPLES))
    // Catches unknown commands; without a command, it shows the help.
    .argument('[command...]')
    .usage('<command> [options]')
    .action(([unknown]: readonly string[], _options: object, command: Command) => {
      if (unknown === undefined) command.help();
      const known = command.commands.map((each) => each.name());
      command.error(`error: unknown command "${unknown}"${didYouMean(unknown, known)}; see gatehouse --help`);
    });
  runningCommands(program);
  diagnosticCommands(program);
  backupCommands(program);
  secretCommands(program);
  declaredCommands(program);
  bookCommands(program);
  accessCommands(program);
  priceCommands(program);
  completionCommand(program);
  return program;
}

export const allBelow = (command: Command): Command[] =>
  command.commands.flatMap((each) => [each, ...allBelow(each)]);
