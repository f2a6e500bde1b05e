import type { Command } from 'commander';
import type { VerifyOptions } from '../audit/verify-command.js';
import type { RebuildCommandOptions } from '../database/rebuild-command.js';
import type { CheckPricesOptions, UpdatePricesOptions } from '../prices/prices-command.js';
import type { VerifyMoneyOptions } from '../verify/verify-money-command.js';
import { documentCommand, finish, reportsAsJson } from './documented-command.js';

/** Commands to verify stored records. */
export function bookCommands(program: Command): void {
  const rebuild = program.command('rebuild').description('rebuild derived data');
  documentCommand(
    reportsAsJson(rebuild.command('rollups'))
      .description('recompute analytics from the request logs, also beside a running instance')
      .option('--from <day>', 'first day, as YYYY-MM-DD (UTC); default: the oldest')
      .option('--to <day>', 'day after the last one, as YYYY-MM-DD (UTC); default: now')
      .action(async (options: RebuildCommandOptions) => {
        const { rebuildCommand } = await import('../database/rebuild-command.js');
        await finish(rebuildCommand(process.env, options));
      }),
    ['gatehouse rebuild rollups --from 2030-01-01 --to 2030-02-01'],
  );
  const verify = program.command('verify').description('check stored figures against each other');
  documentCommand(
    reportsAsJson(verify.command('money'))
      .description('compare charged attempts with budgets, requests and rollups')
      .option('--repair', 'recompute the budget counters from the charged attempts first')
      .action(async (options: VerifyMoneyOptions) => {
        const { verifyMoneyCommand } = await import('../verify/verify-money-command.js');
        await finish(verifyMoneyCommand(process.env, options));
      }),
    ['gatehouse verify money', 'gatehouse verify money --repair'],
    { 1: 'failure, or an unexplained difference', 2: 'wrong usage, or there is no database to compare' },
  );
  const audit = program.command('audit').description('the audit log: the record of every change');
  documentCommand(
    reportsAsJson(audit.command('verify'))
      .description('check that no record was changed, removed, inserted or moved')
      .option('--organization <id>', 'check only this organization (default: all)')
      .option(
        '--anchor <file>',
        'compare with the ends of the log in this file: kept anchors, log lines or forwarded records',
      )
      .action(async (options: VerifyOptions) => {
        const { verifyCommand } = await import('../audit/verify-command.js');
        await finish(verifyCommand(process.env, options));
      }),
    ['gatehouse audit verify', 'gatehouse audit verify --anchor anchors.jsonl'],
    { 1: 'failure, or a record was changed, removed, inserted or moved' },
  );
}

/** Commands for the file of GATEHOUSE_PRICES_FILE. */
export function priceCommands(program: Command): void {
  const prices = program.command('prices').description('prices and context windows of models, as a file');
  documentCommand(
    reportsAsJson(prices.command('update'))
      .description('download price data, check it, and replace the file of GATEHOUSE_PRICES_FILE')
      .option('--from <address>', 'address of the data (default: the public data of genai-prices)')
      .action(async (options: UpdatePricesOptions) => {
        const { updatePricesCommand } = await import('../prices/prices-command.js');
        await finish(updatePricesCommand(process.env, options));
      }),
    ['gatehouse prices update'],
  );
  documentCommand(
    reportsAsJson(prices.command('check'))
      .description('check a price file and print what is wrong with it')
      .argument('[file]', 'default: the file of GATEHOUSE_PRICES_FILE')
      .action(async (file: string | undefined, options: CheckPricesOptions) => {
        const { checkPricesCommand } = await import('../prices/prices-command.js');
        await finish(checkPricesCommand(process.env, file, options));
      }),
    ['gatehouse prices check', 'gatehouse prices check prices.json'],
  );
}
