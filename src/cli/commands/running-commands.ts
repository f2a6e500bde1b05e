import type { Command } from 'commander';
import type { MigrateOptions } from '../database/migrate-command.js';
import type { DoctorOptions } from '../doctor/doctor.js';
import type { RotateOptions } from '../master-key/rotate-command.js';
import type { SupportBundleOptions } from '../support-bundle/support-bundle-command.js';
import { documentCommand, finish, reportsAsJson } from './documented-command.js';

/** Commands to run and maintain an instance. */
export function runningCommands(program: Command): void {
  documentCommand(
    program
      .command('start')
      .description('run Gatehouse in the foreground until it is stopped')
      .action(async () => {
        const { start } = await import('../supervisor.js');
        await finish(start(process.env));
      }),
    [
      'gatehouse start',
      'GATEHOUSE_PORT=8080 DATABASE_URL=postgres://gatehouse:…@db/gatehouse gatehouse start',
    ],
  );
  documentCommand(
    reportsAsJson(program.command('migrate'))
      .description('migrate the database schema; "start" does this itself')
      .option('--status', 'list applied and pending migrations only')
      .option('--dry-run', 'run the pending migrations in a transaction, then roll it back')
      .action(async (options: MigrateOptions) => {
        const { migrateCommand } = await import('../database/migrate-command.js');
        await finish(migrateCommand(process.env, options));
      }),
    ['gatehouse migrate --status', 'gatehouse migrate --dry-run', 'gatehouse migrate'],
    { 1: 'failure, or with --status a migration is pending' },
  );
}

/** Commands to find out what is wrong. */
export function diagnosticCommands(program: Command): void {
  documentCommand(
    program
      .command('doctor')
      .description('check settings, machine, database and other services, and print what to fix')
      .option('--json', 'print each finding as a line of JSON')
      .option('--from-shell', 'check the settings of this shell instead of those of the running instance')
      .action(async (options: DoctorOptions) => {
        const { doctor } = await import('../doctor/doctor.js');
        await finish(doctor(process.env, options));
      }),
    ['gatehouse doctor', 'gatehouse doctor --from-shell', 'gatehouse doctor --json'],
    { 1: 'a check failed' },
  );
  documentCommand(
    reportsAsJson(program.command('support-bundle'))
      .description('write versions, settings, findings and figures for support to one file, without secrets')
      .option('--to <file>', 'file to write (default: gatehouse-support-<time>.tar.gz in this folder)')
      .option('--log <file>', 'log of the service in JSON, to add its end; - reads standard input')
      .action(async (options: SupportBundleOptions) => {
        const { supportBundleCommand } = await import('../support-bundle/support-bundle-command.js');
        await finish(supportBundleCommand(process.env, options));
      }),
    [
      'gatehouse support-bundle',
      'journalctl --unit gatehouse --output cat | gatehouse support-bundle --log -',
    ],
  );
}

/** Commands that replace secrets. */
export function secretCommands(program: Command): void {
  const rotate = program.command('rotate').description('replace a secret of this installation');
  documentCommand(
    reportsAsJson(rotate.command('master-key'))
      .description(
        'replace the master key by GATEHOUSE_NEXT_MASTER_KEY, or by a generated one in secrets.json (docs/master-key.md)',
      )
      .option('--yes', 'rotate without asking for confirmation')
      .action(async (options: RotateOptions) => {
        const { rotateCommand } = await import('../master-key/rotate-command.js');
        await finish(rotateCommand(process.env, options));
      }),
    ['gatehouse rotate master-key', 'gatehouse rotate master-key --yes'],
    { 1: 'failure, or the confirmation was declined' },
  );
}
