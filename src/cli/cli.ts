import { Command, type CommanderError } from 'commander';
import { VERSION } from '../common/version.js';
import { didYouMean } from '../common/text/nearest-names.js';
import type { ApplyOptions } from './config-as-code/apply-command.js';
import type { DoctorOptions } from './doctor/doctor.js';
import type { ConnectOptions } from './config-as-code/connect.js';
import type { CreateAdminKeyOptions } from './operator/create-admin-key-command.js';
import type { RotateOptions } from './master-key/rotate-command.js';
import type { UpdatePricesOptions } from './prices/prices-command.js';
import type { ResetPasswordOptions } from './operator/reset-password-command.js';
import { LauncherError } from './launcher-error.js';
import { complain, explain } from './terminal.js';

/**
 * The command `gatehouse`. Each command's modules are loaded when it runs, so that none pays for another. Exit codes: 0 on success, 1 on
 * any failure, 2 on wrong usage, with the reason on standard error.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command('gatehouse')
    .description('The AI gateway with its administration built in.')
    .version(VERSION, '-v, --version')
    .helpCommand('help [command]', 'show the options of a command')
    .addHelpText('after', EXAMPLES)
    // Catches unknown commands; without a command, it shows the help.
    .argument('[command...]')
    .usage('<command> [options]')
    .action(([unknown]: readonly string[], _options: object, command: Command) => {
      if (unknown === undefined) command.help();
      const known = command.commands.map((each) => each.name());
      command.error(`error: unknown command "${unknown}"${didYouMean(unknown, known)}; see gatehouse --help`);
    });
  runningCommands(program);
  secretCommands(program);
  declaredCommands(program);
  bookCommands(program);
  accessCommands(program);
  priceCommands(program);
  for (const command of [program, ...allBelow(program)]) command.exitOverride(leave);
  await program.parseAsync(args, { from: 'user' });
}

const WRONG_USAGE = 2;

const allBelow = (command: Command): Command[] =>
  command.commands.flatMap((each) => [each, ...allBelow(each)]);

/** Help and version end with 0. The message of any other end is on standard error already. */
function leave({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? 0 : WRONG_USAGE);
}

/** Shown below the options of a command, one per line. */
const examples = (...lines: readonly string[]): string =>
  ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');

const EXAMPLES = examples(
  'gatehouse start                    run Gatehouse; settings come from the environment (docs/settings.md)',
  'gatehouse doctor                   check settings, machine and services',
  'gatehouse export > gatehouse.yaml  print the organization as a file',
  'gatehouse apply -f gatehouse.yaml  apply the file',
  'gatehouse help apply               show the options of a command',
);

/** Commands to run and maintain an instance. */
function runningCommands(program: Command): void {
  program
    .command('start')
    .description('run Gatehouse in the foreground until it is stopped')
    .addHelpText(
      'after',
      examples(
        'gatehouse start',
        'GATEHOUSE_PORT=8080 DATABASE_URL=postgres://gatehouse:…@db/gatehouse gatehouse start',
      ),
    )
    .action(async () => {
      const { start } = await import('./supervisor.js');
      await finish(start(process.env));
    });
  program
    .command('migrate')
    .description('migrate the database schema; "start" does this itself')
    .option('--status', 'list applied and pending migrations only; exit code 1 if any is pending')
    .option('--dry-run', 'run the pending migrations in a transaction, then roll it back')
    .addHelpText(
      'after',
      examples('gatehouse migrate --status', 'gatehouse migrate --dry-run', 'gatehouse migrate'),
    )
    .action(async (options: { readonly status?: boolean; readonly dryRun?: boolean }) => {
      const { migrateCommand } = await import('./database/migrate-command.js');
      await finish(migrateCommand(process.env, options));
    });
  program
    .command('doctor')
    .description('check settings, machine, database and other services, and print what to fix')
    .option('--json', 'print each finding as a line of JSON')
    .option('--from-shell', 'check the settings of this shell instead of those of the running instance')
    .addHelpText(
      'after',
      examples('gatehouse doctor', 'gatehouse doctor --from-shell', 'gatehouse doctor --json'),
    )
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor/doctor.js');
      await finish(doctor(process.env, options));
    });
}

/** Commands that replace secrets. */
function secretCommands(program: Command): void {
  program
    .command('rotate')
    .description('replace a secret of this installation')
    .command('master-key')
    .description(
      'replace the master key by GATEHOUSE_NEXT_MASTER_KEY, or by a generated one in secrets.json (docs/master-key.md)',
    )
    .option('--yes', 'rotate without asking for confirmation')
    .addHelpText('after', examples('gatehouse rotate master-key', 'gatehouse rotate master-key --yes'))
    .action(async (options: RotateOptions) => {
      const { rotateCommand } = await import('./master-key/rotate-command.js');
      await finish(rotateCommand(process.env, options));
    });
}

/** Commands to manage an organization as a file. */
function declaredCommands(program: Command): void {
  reaching(program.command('apply'))
    .description('show what a YAML file would change in the organization, then apply it (docs/configs.md)')
    .requiredOption('-f, --file <path>', 'YAML file to apply; - reads standard input')
    .option('--yes', 'apply without asking for confirmation')
    .option('--dry-run', 'show the changes and exit')
    .addHelpText(
      'after',
      examples(
        'gatehouse apply -f gatehouse.yaml --dry-run',
        'gatehouse apply -f gatehouse.yaml --yes --key-env ADMIN_KEY',
        'gatehouse export | gatehouse apply -f - --dry-run',
      ),
    )
    .action(async (options: ApplyOptions) => {
      const { applyCommand } = await import('./config-as-code/apply-command.js');
      await finish(applyCommand(process.env, options));
    });
  reaching(program.command('export'))
    .description('print the organization as YAML for "gatehouse apply", without secrets')
    .addHelpText(
      'after',
      examples(
        'gatehouse export > gatehouse.yaml',
        'gatehouse export --url https://gateway.example.com --key-env ADMIN_KEY',
      ),
    )
    .action(async (options: ConnectOptions) => {
      const { exportCommand } = await import('./config-as-code/export-command.js');
      await finish(exportCommand(process.env, options));
    });
}

/** Commands to verify stored records. */
function bookCommands(program: Command): void {
  program
    .command('rebuild')
    .description('rebuild derived data')
    .command('rollups')
    .description('recompute analytics from the request logs, also beside a running instance')
    .option('--from <day>', 'first day, as YYYY-MM-DD (UTC); default: the oldest')
    .option('--to <day>', 'day after the last one, as YYYY-MM-DD (UTC); default: now')
    .addHelpText('after', examples('gatehouse rebuild rollups --from 2030-01-01 --to 2030-02-01'))
    .action(async (options: { readonly from?: string; readonly to?: string }) => {
      const { rebuildCommand } = await import('./database/rebuild-command.js');
      await finish(rebuildCommand(process.env, options));
    });
  program
    .command('verify')
    .description('check stored figures against each other')
    .command('money')
    .description(
      'compare charged attempts with budgets, requests and rollups; exit code 1 on any unexplained difference, 2 without a database to compare',
    )
    .option('--repair', 'recompute the budget counters from the charged attempts first')
    .addHelpText('after', examples('gatehouse verify money', 'gatehouse verify money --repair'))
    .action(async (options: { readonly repair?: boolean }) => {
      const { verifyMoneyCommand } = await import('./verify/verify-money-command.js');
      await finish(verifyMoneyCommand(process.env, options));
    });
  const audit = program.command('audit').description('the audit log: the record of every change');
  audit
    .command('verify')
    .description('check that no record was changed, removed, inserted or moved; exit code 1 if one was')
    .option('--organization <id>', 'check only this organization (default: all)')
    .option(
      '--anchor <file>',
      'compare with the ends of the log in this file: kept anchors, log lines or forwarded records',
    )
    .addHelpText('after', examples('gatehouse audit verify', 'gatehouse audit verify --anchor anchors.jsonl'))
    .action(async (options: { readonly organization?: string; readonly anchor?: string }) => {
      const { verifyCommand } = await import('./audit/verify-command.js');
      await finish(verifyCommand(process.env, options));
    });
}

/** Access recovery for an operator on the machine. */
function accessCommands(program: Command): void {
  program
    .command('user')
    .description('manage dashboard users')
    .command('reset-password')
    .description('print a one-use link to set a new password')
    .argument('<email>')
    .option('--organization <id>', 'organization of the user, if several have this address')
    .option('--remove-second-factors', 'also remove the authenticator app, recovery codes and passkeys')
    .addHelpText('after', examples('gatehouse user reset-password ada@example.com --remove-second-factors'))
    .action(async (email: string, options: ResetPasswordOptions) => {
      const { resetPasswordCommand } = await import('./operator/reset-password-command.js');
      await finish(resetPasswordCommand(process.env, email, options));
    });
  program
    .command('api-key')
    .description('manage API keys of this installation')
    .command('create-admin')
    .description('create an admin key with every scope and print it once')
    .option('--name <name>', 'name of the key', 'Made on the machine')
    .option('--user <email>', 'user that the key acts for (default: the oldest active owner)')
    .option('--organization <id>', 'organization of the key, if there are several')
    .addHelpText(
      'after',
      examples('gatehouse api-key create-admin --name "Deploy pipeline" --user ada@example.com'),
    )
    .action(async (options: CreateAdminKeyOptions) => {
      const { createAdminKeyCommand } = await import('./operator/create-admin-key-command.js');
      await finish(createAdminKeyCommand(process.env, options));
    });
}

/** Commands for the file of GATEHOUSE_PRICES_FILE. */
function priceCommands(program: Command): void {
  const prices = program.command('prices').description('prices and context windows of models, as a file');
  prices
    .command('update')
    .description('download price data, check it, and replace the file of GATEHOUSE_PRICES_FILE')
    .option('--from <address>', 'address of the data (default: the public data of genai-prices)')
    .addHelpText('after', examples('gatehouse prices update'))
    .action(async (options: UpdatePricesOptions) => {
      const { updatePricesCommand } = await import('./prices/prices-command.js');
      await finish(updatePricesCommand(process.env, options));
    });
  prices
    .command('check')
    .description('check a price file and print what is wrong with it')
    .argument('[file]', 'default: the file of GATEHOUSE_PRICES_FILE')
    .addHelpText('after', examples('gatehouse prices check', 'gatehouse prices check prices.json'))
    .action(async (file?: string) => {
      const { checkPricesCommand } = await import('./prices/prices-command.js');
      await finish(checkPricesCommand(process.env, file));
    });
}

/** Options for reaching the administration and authenticating. */
function reaching(command: Command): Command {
  return command
    .option('--url <address>', 'address of the service (default: this instance)')
    .option('--key-file <path>', 'file with an admin key (default: bootstrap.json in the data folder)')
    .option('--key-env <name>', 'environment variable with an admin key');
}

/** Ends the process explicitly: a forgotten timer must not keep a stopped service alive. */
async function finish(command: Promise<number>): Promise<void> {
  try {
    process.exit(await command);
  } catch (error) {
    complain(explain(error));
    process.exit(error instanceof LauncherError ? error.exitCode : 1);
  }
}
