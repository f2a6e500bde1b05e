import 'reflect-metadata';
import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { connectPatiently } from './database/sessions/connect-patiently.js';
import { createDataSource } from './schema/data-source.js';
import { StoreChecks } from './egress/store-checks.js';
import { DatabaseClock } from './database/database-clock.js';
import { reportLoops } from './common/supervision/loop-reports.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { type ReadinessCheck, Probes } from './common/supervision/probes.js';
import { onSupervisor, startSignal, tellSupervisor } from './common/supervision/child.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';
import { serveOnlyProbes } from './server/probe-servers.js';
import { SHIPPER_LOOP } from './jobs/shipping/shipper.js';
import { endLogExport } from './telemetry/log-export.js';
import { startCountedLogExport } from './telemetry/log-export-metrics.js';
import { startRegistryExport } from './telemetry/registry-export.js';
import { WorkerModule } from './worker.module.js';

const logger = createLogger('worker');

/** The background process: stores and aggregates request logs. As an instance of its own, it also serves probes. */
async function main(settings: Settings): Promise<void> {
  if (!settings.databaseUrl)
    throw new Error('The background process needs DATABASE_URL; "gatehouse start" gives it one.');
  const dataSource = createDataSource(settings.databaseUrl.reveal(), settings.databasePoolSize, 'background');
  const clock = new DatabaseClock(dataSource);
  const others = [...new StoreChecks(settings).all, clock.check];
  const probes = settings.role === 'worker' ? await serveProbes(settings, dataSource, others) : [];
  await connectPatiently(dataSource, logger);
  const app = await NestFactory.createApplicationContext(WorkerModule.register(settings, dataSource), {
    logger: nestLogger,
    abortOnError: false,
  });
  startMetrics();
  startCountedLogExport(settings);
  const metrics = settings.role === 'worker' ? await startRegistryExport(settings) : null;
  clock.start();
  onSupervisor({
    drain: async () => {
      await app.close();
      for (const server of probes) server.close();
      await Promise.all([metrics?.end(), endLogExport()]);
      process.exit(0);
    },
  });
  reportLoops();
  tellSupervisor({ type: 'ready' });
}

/**
 * The probes of an instance that only runs jobs. It is not ready while it cannot store request logs: it receives no client requests, so
 * this fails none, and it stops a rollout.
 */
async function serveProbes(
  settings: Settings,
  dataSource: DataSource,
  others: readonly ReadinessCheck[],
): Promise<readonly Server[]> {
  const database = {
    name: 'database',
    isVital: true,
    run: async () => {
      await dataSource.query('SELECT 1');
    },
  };
  const probes = new Probes([database, ...others], settings.metricsToken, [SHIPPER_LOOP]);
  return serveOnlyProbes(probes, settings);
}

startSignal()
  .then(() => main(settingsOfProcess()))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'The background process cannot start.');
    process.exit(1);
  });
