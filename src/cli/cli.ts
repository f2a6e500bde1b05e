import { Command } from 'commander';
import { VERSION } from '../common/version.js';
import type { ApplyOptions } from './declared/apply-command.js';
import type { DoctorOptions } from './doctor/doctor.js';
import type { ConnectOptions } from './declared/connect.js';
import type { CreateAdminKeyOptions } from './operator/create-admin-key-command.js';
import type { ResetPasswordOptions } from './operator/reset-password-command.js';
import { complain, explain } from './terminal.js';

/**
 * The command `gatehouse`. What a command needs is loaded when it runs, so that none pays for another.
 * Exit codes: 0 for done, 1 for anything that did not work; the reason stands on standard error.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command('gatehouse')
    .description('The AI gateway with its administration built in.')
    .version(VERSION)
    .addHelpText('after', EXAMPLES)
    // Whatever is no command comes here: without one, help is what somebody needs.
    .argument('[command]')
    .usage('<command> [options]')
    .action((unknown: string | undefined, _options: object, command: Command) => {
      if (unknown === undefined) command.help();
      command.error(`error: unknown command '${unknown}' (see gatehouse --help)`);
    });
  runningCommands(program);
  declaredCommands(program);
  bookCommands(program);
  accessCommands(program);
  await program.parseAsync(args, { from: 'user' });
}

const EXAMPLES = `
Examples:
  gatehouse start                    start this instance; settings come from the environment (docs/settings.md)
  gatehouse doctor                   check settings, machine and services
  gatehouse export > gatehouse.yaml  print the organization as a file
  gatehouse apply -f gatehouse.yaml  apply the file`;

/** To run an instance and look after it. */
function runningCommands(program: Command): void {
  program
    .command('start')
    .description('start this instance and stay with it until it is stopped')
    .action(async () => {
      const { start } = await import('./supervisor.js');
      await finish(start(process.env));
    });
  program
    .command('migrate')
    .description(
      'bring the schema of the database up to date, also beside a running instance (start does so by itself)',
    )
    .option(
      '--status',
      'only list which migrations are done and which are pending; exit code 1 when any is pending',
    )
    .option('--dry-run', 'run the pending migrations in a transaction and roll it back')
    .action(async (options: { readonly status?: boolean; readonly dryRun?: boolean }) => {
      const { migrateCommand } = await import('./database/migrate-command.js');
      await finish(migrateCommand(process.env, options));
    });
  program
    .command('doctor')
    .description('check settings, machine, database and other services, and say what to do')
    .option('--from-shell', 'check the settings of this shell, also while an instance runs with others')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor/doctor.js');
      await finish(doctor(process.env, options));
    });
  program
    .command('rotate')
    .description('replace a secret of this installation')
    .command('master-key')
    .description('encrypt what the current master key encrypted with the next one; the service keeps running')
    .action(async () => {
      const { rotateCommand } = await import('./master-key/rotate-command.js');
      await finish(rotateCommand(process.env));
    });
}

/** To keep an organization as a file says. */
function declaredCommands(program: Command): void {
  reaching(program.command('apply'))
    .description('apply a YAML file to the organization, after showing what would change')
    .requiredOption('-f, --file <path>', 'the file')
    .option('--yes', 'do not ask before the changes are made')
    .option('--dry-run', 'only show what would change')
    .action(async (options: ApplyOptions) => {
      const { applyCommand } = await import('./declared/apply-command.js');
      await finish(applyCommand(process.env, options));
    });
  reaching(program.command('export'))
    .description('print the organization as such a file, without secrets')
    .action(async (options: ConnectOptions) => {
      const { exportCommand } = await import('./declared/export-command.js');
      await finish(exportCommand(process.env, options));
    });
}

/** To hold what was written down against each other. */
function bookCommands(program: Command): void {
  program
    .command('rebuild')
    .description('rebuild derived data')
    .command('rollups')
    .description('count analytics again from the request logs, also beside a running instance')
    .option('--from <day>', 'from this day on (UTC); default: everything')
    .option('--to <day>', 'until the day before this one')
    .action(async (options: { readonly from?: string; readonly to?: string }) => {
      const { rebuildCommand } = await import('./database/rebuild-command.js');
      await finish(rebuildCommand(process.env, options));
    });
  program
    .command('verify')
    .description('check the books of this instance')
    .command('money')
    .description('the ledger of attempts against budgets, requests and rollups; exit code 1 when any differs')
    .option('--repair', 'make the counters of budgets anew from the ledger first')
    .action(async (options: { readonly repair?: boolean }) => {
      const { verifyMoneyCommand } = await import('./verify/verify-money-command.js');
      await finish(verifyMoneyCommand(process.env, options));
    });
  const audit = program.command('audit').description('the record of who changed what');
  audit
    .command('verify')
    .description('check that no record was edited, removed, slipped in or moved; exit code 1 when one was')
    .option('--organization <id>', 'only the records of this organization')
    .action(async (options: { readonly organization?: string }) => {
      const { verifyCommand } = await import('./audit/verify-command.js');
      await finish(verifyCommand(process.env, options));
    });
}

/** For the person at the machine, who has lost every other way in. */
function accessCommands(program: Command): void {
  program
    .command('user')
    .description('users who sign in to the dashboard')
    .command('reset-password')
    .description('print a one-use link with which the user sets another password')
    .argument('<email>')
    .option('--organization <id>', 'where users of several organizations have this address')
    .option('--remove-second-factors', 'also remove authenticator app, recovery codes and passkeys')
    .action(async (email: string, options: ResetPasswordOptions) => {
      const { resetPasswordCommand } = await import('./operator/reset-password-command.js');
      await finish(resetPasswordCommand(process.env, email, options));
    });
  program
    .command('api-key')
    .description('API keys of this installation')
    .command('create-admin')
    .description('print a new admin key with every scope')
    .option('--name <name>', 'name of the key', 'Made on the machine')
    .option('--user <email>', 'user on whose authority it acts (default: the oldest active owner)')
    .option('--organization <id>', 'where there are several')
    .action(async (options: CreateAdminKeyOptions) => {
      const { createAdminKeyCommand } = await import('./operator/create-admin-key-command.js');
      await finish(createAdminKeyCommand(process.env, options));
    });
}

/** How a command finds the administration and shows who it is. */
function reaching(command: Command): Command {
  return command
    .option('--url <address>', "the service's address (default: that of this instance)")
    .option('--key-file <path>', 'file that holds an admin key (default: bootstrap.json of the data folder)')
    .option('--key-env <name>', 'variable of the environment that holds an admin key');
}

/** Ends the process for certain: a forgotten timer must not keep a stopped service in the process list. */
async function finish(command: Promise<number>): Promise<void> {
  try {
    process.exit(await command);
  } catch (error) {
    complain(explain(error));
    process.exit(1);
  }
}
