import 'reflect-metadata';
import { createServer, type RequestListener, type Server } from 'node:http';
import { chmod, rm } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { configureAdmin } from './admin/configure.js';
import { serveDocs } from './admin/openapi/pages.js';
import { serveInvitePage } from './admin/invites/invite-page.js';
import { AdministrationModule } from './administration.module.js';
import { connectPatiently } from './common/database/sessions/connect-patiently.js';
import { createDataSource } from './common/database/data-source.js';
import { takeClientAddress } from './common/http/client-address.js';
import { reportLoops } from './common/loops/loop-reports.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { onSupervisor, supervisorSaysGo, tellSupervisor } from './common/processes/child.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';

const logger = createLogger('administration');

/** The administration's process: answers what the gateway processes relay to it, on a socket that only they can reach. */
async function main(settings: Settings): Promise<void> {
  const { databaseUrl, adminSocket } = settings;
  if (!databaseUrl || !adminSocket)
    throw new Error(
      'The administration needs what "gatehouse start" gives it: DATABASE_URL and GATEHOUSE_ADMIN_SOCKET.',
    );
  const dataSource = createDataSource(databaseUrl.reveal(), settings.databasePoolSize);
  await connectPatiently(dataSource, logger);
  const app = await NestFactory.create<NestFastifyApplication>(
    AdministrationModule.of(settings, dataSource),
    new FastifyAdapter({ serverFactory: relayedServer, return503OnClosing: false }),
    { logger: nestLogger, abortOnError: false },
  );
  configureAdmin(app);
  serveDocs(app);
  serveInvitePage(app);
  startMetrics();
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  await listen(app.getHttpServer(), adminSocket);
  onSupervisor({
    drain: async () => {
      await app.close();
      process.exit(0);
    },
  });
  reportLoops();
  tellSupervisor({ type: 'ready' });
}

/** A connection that waits for the next request is closed by the other side alone, which then never writes into a closed one. */
function relayedServer(handle: RequestListener): Server {
  return createServer({ keepAliveTimeout: 0 }, (request, response) => {
    takeClientAddress(request);
    handle(request, response);
  });
}

/** Every gateway process may send many at once, and Node's 511 would be those of eight. */
const BACKLOG = 4_096;

/** A predecessor that was killed left its socket behind. */
async function listen(server: Server, path: string): Promise<void> {
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  await chmod(path, 0o600);
}

supervisorSaysGo()
  .then(() => main(settingsOfProcess()))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'the administration cannot start');
    process.exit(1);
  });
