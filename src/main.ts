import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { configureAdmin } from './admin/configure.js';
import { AppModule } from './app.module.js';
import { createDataSource } from './common/database/data-source.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { type Check, Probes } from './common/observability/probes.js';
import { collectGarbage } from './common/processes/collect-garbage.js';
import { onSupervisor, supervisorSaysGo, tellSupervisor } from './common/processes/child.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';
import { Pipeline } from './gateway/pipeline.js';
import { registerExchangeMetrics } from './gateway/journal/exchange-metrics.js';
import { FrontServer } from './http.js';

const logger = createLogger('main');

/** A gateway process: serves the data plane and the administration on one port. */
async function main(settings: Settings): Promise<void> {
  if (!settings.databaseUrl)
    throw new Error('A gateway process needs DATABASE_URL; "gatehouse start" gives it one.');
  const dataSource = createDataSource(settings.databaseUrl.reveal(), settings.databasePoolSize);
  await dataSource.initialize();
  const front = new FrontServer();
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(settings, dataSource),
    front.adapter,
    {
      logger: nestLogger,
      abortOnError: false,
    },
  );
  configureAdmin(app);
  startMetrics();
  registerExchangeMetrics();
  await app.listen(settings.port, settings.host);

  const checks: Check[] = [
    {
      name: 'draining',
      isVital: true,
      run: () => {
        if (front.isDraining) throw new Error('draining');
      },
    },
    {
      name: 'database',
      isVital: false,
      run: async () => {
        await dataSource.query('SELECT 1');
      },
    },
  ];
  front.open(app.get(Pipeline), new Probes(checks, settings.metricsToken));

  onSupervisor({ drain: (isImmediate) => drain(app, front, settings, isImmediate) });
  collectGarbage();
  tellSupervisor({ type: 'ready' });
}

/**
 * Leaves without failing anybody: says so in readiness, goes on serving until balancers have noticed, lets
 * streams finish, then closes the stores. Connections of the first phase end with their answer.
 */
async function drain(
  app: NestFastifyApplication,
  front: FrontServer,
  settings: Settings,
  isImmediate: boolean,
): Promise<void> {
  front.isDraining = true;
  if (!isImmediate) await delay(settings.drainDelayMs);
  await front.close(settings.drainTimeoutMs);
  await app.close();
  process.exit(0);
}

supervisorSaysGo()
  .then(() => main(settingsOfProcess()))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'the gateway process cannot start');
    process.exit(1);
  });
