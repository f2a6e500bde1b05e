import type { Command } from 'commander';
import type { BackupOptions } from '../backup/backup-command.js';
import type { RestoreOptions } from '../backup/restore-command.js';
import { documentCommand, finish, reportsAsJson } from './documented-command.js';

/** Commands to save an installation and bring it back. */
export function backupCommands(program: Command): void {
  documentCommand(
    withPassphrase(reportsAsJson(program.command('backup')))
      .description('write database, secrets and the list of bucket objects to one file (docs/backup.md)')
      .requiredOption('--to <file>', 'file to write; it must not exist')
      .action(async (options: BackupOptions) => {
        const { backupCommand } = await import('../backup/backup-command.js');
        await finish(backupCommand(process.env, options));
      }),
    [
      'gatehouse backup --to gatehouse-2030-01-31.tar',
      'gatehouse backup --to gatehouse.tar --passphrase-file /run/secrets/backup_passphrase',
    ],
  );
  documentCommand(
    withPassphrase(reportsAsJson(program.command('restore')))
      .description('restore a backup into an empty database, then check audit log, money and credentials')
      .requiredOption('--from <file>', 'file that "gatehouse backup" has written')
      .option('--replace', 'delete what the database holds; asks for confirmation')
      .option('--yes', 'with --replace, do not ask for confirmation')
      .action(async (options: RestoreOptions) => {
        const { restoreCommand } = await import('../backup/restore-command.js');
        await finish(restoreCommand(process.env, options));
      }),
    [
      'gatehouse restore --from gatehouse-2030-01-31.tar',
      'gatehouse restore --from gatehouse.tar --replace --passphrase-env BACKUP_PASSPHRASE',
    ],
    {
      1: 'failure, or the confirmation was declined; standard error says why',
      3: 'restored, but the audit log, the money or a credential did not pass its check',
    },
  );
}

function withPassphrase(command: Command): Command {
  return command
    .option('--passphrase-file <path>', 'file with the passphrase of the backup (default: asks for it)')
    .option('--passphrase-env <name>', 'environment variable with the passphrase of the backup');
}
