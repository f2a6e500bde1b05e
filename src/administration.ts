import 'reflect-metadata';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createAdapter } from './admin/http/adapter.js';
import { configureAdmin } from './admin/configure.js';
import { serveDocs } from './admin/openapi/pages.js';
import { serveInvitePage } from './admin/invites/invite-page.js';
import { AdministrationModule } from './administration.module.js';
import { warnWithoutRowLevelSecurity } from './database/sessions/rls-check.js';
import { connectPatiently } from './database/sessions/connect-patiently.js';
import { createDataSource } from './schema/data-source.js';
import { reportLoops } from './common/supervision/loop-reports.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { onSupervisor, startSignal, tellSupervisor } from './common/supervision/child.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';
import { endLogExport } from './telemetry/log-export.js';
import { startCountedLogExport } from './telemetry/log-export-metrics.js';
import { startRegistryExport } from './telemetry/registry-export.js';
import { DashboardFiles } from './server/dashboard-files.js';
import { RelayedServer } from './server/relayed-server.js';

const logger = createLogger('administration');

/** Beside the built program. */
const DASHBOARD = fileURLToPath(new URL('./dashboard', import.meta.url));

/** The administration's process: serves what the gateway processes relay to it, on a socket that only they can reach. */
async function main(settings: Settings): Promise<void> {
  const { databaseUrl, adminSocket } = settings;
  if (!databaseUrl || !adminSocket)
    throw new Error(
      'The administration needs what "gatehouse start" gives it: DATABASE_URL and GATEHOUSE_ADMIN_SOCKET.',
    );
  const relayed = new RelayedServer(await DashboardFiles.read(DASHBOARD));
  await relayed.listen(adminSocket);
  const dataSource = createDataSource(databaseUrl.reveal(), settings.databasePoolSize);
  await connectPatiently(dataSource, logger);
  await warnWithoutRowLevelSecurity(dataSource);
  let administration: RequestListener | undefined;
  const serverFactory = (listener: RequestListener) => {
    administration = listener;
    return relayed.server;
  };
  const app = await NestFactory.create<NestFastifyApplication>(
    AdministrationModule.register(settings, dataSource),
    createAdapter(serverFactory),
    { logger: nestLogger, abortOnError: false },
  );
  configureAdmin(app);
  serveDocs(app);
  serveInvitePage(app);
  startMetrics();
  startCountedLogExport(settings);
  const metrics = await startRegistryExport(settings);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  if (administration) relayed.begin(administration);
  onSupervisor({
    drain: async () => {
      await app.close();
      await Promise.all([metrics.end(), endLogExport()]);
      process.exit(0);
    },
  });
  reportLoops();
  tellSupervisor({ type: 'ready' });
}

startSignal()
  .then(() => main(settingsOfProcess()))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'The administration cannot start.');
    process.exit(1);
  });
