import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { connectPatiently } from './common/database/sessions/connect-patiently.js';
import { createDataSource } from './common/database/data-source.js';
import { DatabaseClock } from './common/observability/database-clock.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { onSupervisor, supervisorSaysGo, tellSupervisor } from './common/processes/child.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';
import { WorkerModule } from './worker.module.js';

const logger = createLogger('worker');

/** The background process: stores request logs, aggregates them. Serves nobody. */
async function main(settings: Settings): Promise<void> {
  if (!settings.databaseUrl)
    throw new Error('The background process needs DATABASE_URL; "gatehouse start" gives it one.');
  const dataSource = createDataSource(settings.databaseUrl.reveal(), settings.databasePoolSize, 'background');
  await connectPatiently(dataSource, logger);
  const app = await NestFactory.createApplicationContext(WorkerModule.of(settings, dataSource), {
    logger: nestLogger,
    abortOnError: false,
  });
  startMetrics();
  new DatabaseClock(dataSource).start();
  onSupervisor({
    drain: async () => {
      await app.close();
      process.exit(0);
    },
  });
  tellSupervisor({ type: 'ready' });
}

supervisorSaysGo()
  .then(() => main(settingsOfProcess()))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'the background process cannot start');
    process.exit(1);
  });
