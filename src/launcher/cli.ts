import { Command } from 'commander';
import { complain, explain } from './terminal.js';

/**
 * The command `gatehouse`. What a command needs is loaded when it runs, so that none pays for another.
 * Exit codes: 0 for done, 1 for anything that did not work; the reason stands on standard error.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command('gatehouse').description('The AI gateway with its administration built in.');
  program
    .command('start', { isDefault: true })
    .description('start this instance and stay with it until it is stopped')
    .action(async () => {
      const { start } = await import('./supervisor.js');
      await finish(start(process.env));
    });
  program
    .command('migrate')
    .description('bring the schema of the database up to date (start does so by itself)')
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
    .description('check settings, machine, database and Redis, and say what to do')
    .action(async () => {
      const { doctor } = await import('./doctor/doctor.js');
      await finish(doctor(process.env));
    });
  program
    .command('verify')
    .description('compare what the books of this instance say')
    .command('money')
    .description('the ledger of attempts against budgets, requests and rollups; exit code 1 when any differs')
    .option('--repair', 'make the counters of budgets anew from the ledger first')
    .action(async (options: { readonly repair?: boolean }) => {
      const { verifyMoneyCommand } = await import('./verify/verify-money-command.js');
      await finish(verifyMoneyCommand(process.env, options));
    });
  await program.parseAsync(args, { from: 'user' });
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
