import { loadSettings } from '../../common/settings/settings.js';
import { LauncherError } from '../launcher-error.js';
import { Progress, say } from '../terminal.js';
import { withDatabase } from './with-database.js';

export interface RebuildCommandOptions {
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
  return withDatabase(loadSettings(environment), async (url) => {
    const { createDataSource } = await import('../../common/database/data-source.js');
    const { rebuildRollups } = await import('../../common/rollups/rebuild.js');
    const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
    const progress = new Progress('Counting again');
    try {
      const { hours, keptBefore } = await rebuildRollups(dataSource, {
        ...range,
        onProgress: (done, total) => progress.show(done, total),
      });
      progress.end();
      say(`${hours} hours were counted again from the request logs.`);
      if (keptBefore)
        say(`Hours before ${keptBefore.toISOString()} stay as they are: their request logs are gone.`);
      return 0;
    } finally {
      await dataSource.destroy();
    }
  });
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function dayOf(option: string, text: string): Date {
  const day = DAY.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()))
    throw new LauncherError(`${option} must be a day such as 2030-01-31 (UTC).`);
  return day;
}
