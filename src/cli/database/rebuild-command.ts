import type { Secret } from '../../common/settings/secret.js';
import { type ClickHouseSettings, loadSettings, type Settings } from '../../common/settings/settings.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { ProgressBar } from '../terminal.js';
import { withRunningDatabase } from './with-database.js';

export interface RebuildCommandOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
}

/** `gatehouse rebuild rollups`. Returns the exit code. */
export async function rebuildCommand(
  environment: NodeJS.ProcessEnv,
  options: RebuildCommandOptions,
): Promise<number> {
  const range = {
    ...(options.from === undefined ? {} : { from: dayOf('--from', options.from) }),
    ...(options.to === undefined ? {} : { to: dayOf('--to', options.to) }),
  };
  const output = new CommandOutput(options);
  const settings = loadSettings(environment);
  const { clickhouse, retentionDays } = settings;
  return withRunningDatabase(settings, async (url) => {
    if (clickhouse) return copyToClickHouse(url, clickhouse, { retentionDays, ...range, output });
    const { createDataSource } = await import('../../schema/data-source.js');
    const { rebuildRollups } = await import('../../request-log/rollups/rebuild.js');
    const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
    const progress = new ProgressBar('Counting again');
    try {
      const { hours, keptBefore } = await rebuildRollups(dataSource, {
        ...range,
        onProgress: (done, total) => progress.show(done, total),
      });
      progress.end();
      output.say(`${hours} hours were recomputed from the request logs.`);
      if (keptBefore)
        output.say(
          `Hours before ${keptBefore.toISOString()} stay as they are, because their request logs were deleted.`,
        );
      output.result({ hours, kept_before: keptBefore?.toISOString() ?? null });
      return 0;
    } finally {
      await dataSource.destroy();
    }
  });
}

interface ClickHouseCopyOptions extends Pick<Settings, 'retentionDays'> {
  readonly from?: Date;
  readonly to?: Date;
  readonly output: CommandOutput;
}

/** ClickHouse's views count everything that is stored, so only batches can be missing. */
async function copyToClickHouse(
  url: Secret,
  settings: ClickHouseSettings,
  { retentionDays, output, ...range }: ClickHouseCopyOptions,
): Promise<number> {
  const { createDataSource } = await import('../../schema/data-source.js');
  const { ClickHouse } = await import('../../request-log/analytics/clickhouse/clickhouse.js');
  const { copyMissingBatches } = await import('../../request-log/analytics/clickhouse/copy-batches.js');
  const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
  const clickhouse = await ClickHouse.connect(settings, retentionDays);
  const progress = new ProgressBar('Copying to ClickHouse');
  try {
    const copied = await copyMissingBatches(dataSource, clickhouse, {
      ...range,
      onProgress: (done, total) => progress.show(done, total),
    });
    progress.end();
    output.say(`${copied} batches of request logs were missing in ClickHouse and were copied.`);
    output.result({ batches_copied: copied });
    return 0;
  } finally {
    await clickhouse.onApplicationShutdown();
    await dataSource.destroy();
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function dayOf(option: string, text: string): Date {
  const day = DAY.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()))
    throw new LauncherError(`${option} must be a day such as 2030-01-31 (UTC).`);
  return day;
}
