import type { Command } from 'commander';
import type { ApplyOptions } from '../config-as-code/apply-command.js';
import type { ExportOptions } from '../config-as-code/export-command.js';
import type { CreateAdminKeyOptions } from '../operator/create-admin-key-command.js';
import type { ResetPasswordOptions } from '../operator/reset-password-command.js';
import { documentCommand, finish, reportsAsJson } from './documented-command.js';

/** Commands to manage an organization as a file. */
export function declaredCommands(program: Command): void {
  documentCommand(
    reaching(reportsAsJson(program.command('apply')))
      .description('show what a YAML file would change in the organization, then apply it (docs/configs.md)')
      .requiredOption('-f, --file <path>', 'YAML file to apply; - reads standard input')
      .option('--yes', 'apply without asking for confirmation')
      .option('--dry-run', 'show the changes and exit')
      .action(async (options: ApplyOptions) => {
        const { applyCommand } = await import('../config-as-code/apply-command.js');
        await finish(applyCommand(process.env, options));
      }),
    [
      'gatehouse apply -f gatehouse.yaml --dry-run',
      'gatehouse apply -f gatehouse.yaml --yes --key-env ADMIN_KEY',
      'gatehouse export | gatehouse apply -f - --dry-run',
    ],
    { 1: 'failure, or the confirmation was declined' },
  );
  documentCommand(
    reaching(program.command('export'))
      .description('print the organization as YAML for "gatehouse apply", without secrets')
      .option('--json', 'print the same document as JSON, which "gatehouse apply" reads as well')
      .action(async (options: ExportOptions) => {
        const { exportCommand } = await import('../config-as-code/export-command.js');
        await finish(exportCommand(process.env, options));
      }),
    [
      'gatehouse export > gatehouse.yaml',
      'gatehouse export --url https://gateway.example.com --key-env ADMIN_KEY',
    ],
  );
}

/** Options for reaching the administration and authenticating. */
function reaching(command: Command): Command {
  return command
    .option('--url <address>', 'address of the service (default: this instance)')
    .option('--key-file <path>', 'file with an admin key (default: bootstrap.json in the data folder)')
    .option('--key-env <name>', 'environment variable with an admin key');
}

/** Access recovery for an operator on the machine. */
export function accessCommands(program: Command): void {
  const user = program.command('user').description('manage dashboard users');
  documentCommand(
    reportsAsJson(user.command('reset-password'))
      .description('print a one-use link to set a new password')
      .argument('<email>', 'address of the user')
      .option('--organization <id>', 'organization of the user, if several have this address')
      .option('--remove-second-factors', 'also remove the authenticator app, recovery codes and passkeys')
      .action(async (email: string, options: ResetPasswordOptions) => {
        const { resetPasswordCommand } = await import('../operator/reset-password-command.js');
        await finish(resetPasswordCommand(process.env, email, options));
      }),
    ['gatehouse user reset-password ada@example.com --remove-second-factors'],
  );
  const apiKey = program.command('api-key').description('manage API keys of this installation');
  documentCommand(
    reportsAsJson(apiKey.command('create-admin'))
      .description('create an admin key with every scope and print it once')
      .option('--name <name>', 'name of the key', 'Made on the machine')
      .option('--user <email>', 'user that the key acts for (default: the oldest active owner)')
      .option('--organization <id>', 'organization of the key, if there are several')
      .action(async (options: CreateAdminKeyOptions) => {
        const { createAdminKeyCommand } = await import('../operator/create-admin-key-command.js');
        await finish(createAdminKeyCommand(process.env, options));
      }),
    ['gatehouse api-key create-admin --name "Deploy pipeline" --user ada@example.com'],
  );
}
