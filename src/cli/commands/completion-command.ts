import { Argument, type Command } from 'commander';
import { say } from '../terminal.js';
import { documentCommand, finish } from './documented-command.js';

const SHELLS = { bash: bashScript, zsh: zshScript } as const;

export function completionCommand(program: Command): void {
  documentCommand(
    program
      .command('completion')
      .description('print a script that completes commands and options in a shell')
      .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(SHELLS)))
      .action(async (shell: keyof typeof SHELLS) => {
        say(completionScript(shell, program));
        await finish(Promise.resolve(0));
      }),
    ['source <(gatehouse completion bash)', 'gatehouse completion zsh > ~/.zfunc/_gatehouse'],
  );
}

/** A script for a shell, made from the tree below this command. */
export const completionScript = (shell: keyof typeof SHELLS, program: Command): string =>
  SHELLS[shell](program);

/** A path in the tree, such as `prices update`, and the words that may follow. */
interface CompletedPath {
  readonly path: string;
  readonly words: readonly string[];
}

function pathsBelow(command: Command, path: readonly string[] = []): CompletedPath[] {
  const words = [
    ...command.commands.map((each) => each.name()),
    ...(path.length === 0 ? ['help'] : []),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...command.options.flatMap(({ long, short }) => long ?? short ?? []),
    '--help',
  ];
  return [
    { path: path.join(' '), words },
    ...command.commands.flatMap((each) => pathsBelow(each, [...path, each.name()])),
  ];
}

/** Options that take the name of a file, for which the shell completes paths. */
function fileOptions(command: Command): string[] {
  const own = command.options.filter(({ flags }) => /<(path|file)>/.test(flags));
  const names = own.flatMap(({ long, short }) => [long, short].filter((name) => name !== undefined));
  return [...new Set([...names, ...command.commands.flatMap(fileOptions)])];
}

/**
 * The words before the cursor that are commands, joined, choose the words that may follow. Both scripts do the same with the
 * arrays of their shell.
 */
function bashScript(program: Command): string {
  const cases = pathsBelow(program).map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `# bash completion of gatehouse. Load it with: source <(gatehouse completion bash)
_gatehouse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' word
  COMPREPLY=()
  case "$previous" in
    ${fileOptions(program).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      help|-*) ;;
      *) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _gatehouse gatehouse`;
}

function zshScript(program: Command): string {
  const cases = pathsBelow(program).map(
    ({ path, words }) => `    '${path}') candidates=(${words.join(' ')}) ;;`,
  );
  return `#compdef gatehouse
# zsh completion of gatehouse. Write it to a folder of $fpath: gatehouse completion zsh > ~/.zfunc/_gatehouse
_gatehouse() {
  local joined='' word
  local -a candidates
  case "\${words[CURRENT-1]}" in
    ${fileOptions(program).join('|')}) _files; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in
      help|-*) ;;
      *) joined="\${joined:+$joined }$word" ;;
    esac
  done
  case "$joined" in
${cases.join('\n')}
  esac
  compadd -- "\${candidates[@]}"
}
if [ "\${funcstack[1]}" = _gatehouse ]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi`;
}
