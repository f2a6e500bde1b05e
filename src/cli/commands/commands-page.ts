import type { Command } from 'commander';
import { allBelow, commandTree } from './command-tree.js';
import { COMMON_EXIT_CODES, documentationOf } from './documented-command.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...heads), row(...heads.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');

/** Commands that only group others are headings of those. */
export const documentedCommands = (): Command[] =>
  allBelow(commandTree()).filter(({ commands }) => commands.length === 0);

export const commandPath = (command: Command): string =>
  command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name();

/** The page docs/commands.md. */
export function commandsPage(): string {
  const codes = Object.entries(COMMON_EXIT_CODES).map(([code, meaning]) => [code, cell(meaning)]);
  const intro = [
    'The command `gatehouse` with its options and exit codes, as `gatehouse help` prints them. Settings come from the',
    'environment: [settings.md](settings.md). With `--json`, a command prints one JSON document on standard output; text,',
    'progress and errors go to standard error.',
  ].join('\n');
  const parts = [
    '# Commands',
    intro,
    'Exit codes of every command, where nothing else is said:',
    table(['Code', 'Meaning'], codes),
    ...documentedCommands().map(section),
  ];
  return `${parts.join('\n\n')}\n`;
}

function section(command: Command): string {
  const { examples, exitCodes } = documentationOf(command);
  const options = [
    ...command.registeredArguments.map((argument) => [
      `\`${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}\``,
      cell(argument.description),
    ]),
    ...command.options.map(({ flags, description }) => [`\`${flags}\``, cell(description)]),
  ];
  const own = Object.entries(exitCodes)
    .filter(([code, meaning]) => COMMON_EXIT_CODES[Number(code)] !== meaning)
    .map(([code, meaning]) => [code, cell(meaning)]);
  const description = command.description();
  return [
    `## ${commandPath(command)}`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    ...(options.length > 0 ? [table(['Option', 'Meaning'], options)] : []),
    ...(own.length > 0 ? [table(['Exit code', 'Meaning'], own)] : []),
    `<!-- not run: examples -->\n\n\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ].join('\n\n');
}
