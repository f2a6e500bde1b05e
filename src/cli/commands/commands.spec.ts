import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsPage, documentedCommands, commandPath } from './commands-page.js';
import { completionScript } from './completion-command.js';
import { commandTree } from './command-tree.js';
import { documentationOf } from './documented-command.js';

/** They print no result: a service runs, and a script is for a shell. */
const WITHOUT_JSON = ['gatehouse start', 'gatehouse completion'];

describe('commands', () => {
  it.each(documentedCommands().map((command) => [commandPath(command), command] as const))(
    '%s has a description, examples, exit codes, and JSON',
    (path, command) => {
      const { examples, exitCodes } = documentationOf(command);

      expect(command.description()).not.toBe('');
      expect(examples).not.toEqual([]);
      expect(exitCodes).toMatchObject({
        0: expect.any(String),
        1: expect.any(String),
        2: expect.any(String),
      });
      expect(command.options.some(({ long }) => long === '--json')).toBe(!WITHOUT_JSON.includes(path));
      for (const { description } of [...command.options, ...command.registeredArguments])
        expect(description).not.toBe('');
      expect(commandsPage()).toContain(`## ${path}\n`);
    },
  );

  it('take no passphrase and no key as an argument, which process lists would show', () => {
    for (const { options } of documentedCommands())
      for (const { flags } of options) expect(flags).not.toMatch(/(passphrase|password|secret|key) </);
  });
});

describe('completion', () => {
  const bash = (line: string): string[] => {
    const words = line.split(' ');
    const script = `${completionScript('bash', commandTree())}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).trim().split('\n').sort();
  };

  it.each([
    ['gatehouse ver', ['verify']],
    ['gatehouse verify ', ['--help', 'money']],
    ['gatehouse verify money --r', ['--repair']],
    ['gatehouse help pri', ['prices']],
    ['gatehouse completion ', ['--help', 'bash', 'zsh']],
  ])('of "%s" in bash is %j', (line, expected) => expect(bash(line)).toEqual(expected));

  it('offers files to an option that takes one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-completion-'));
    await writeFile(join(folder, 'backup.tar'), '');
    expect(bash(`gatehouse restore --from ${folder}/b`)).toEqual([join(folder, 'backup.tar')]);
    await rm(folder, { recursive: true });
  });

  it('offers the same words in zsh', () => {
    const script = completionScript('zsh', commandTree());

    expect(script).toContain("'verify money') candidates=(--json --repair --help) ;;");
    expect(script).toContain("'completion') candidates=(bash zsh --help) ;;");
  });
});
