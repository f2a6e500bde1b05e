import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DirectorySnapshot } from './adapters/directories/directory-snapshot.js';
import { deliveryChecks } from './adapters/delivery-checks.js';
import { administrationCheck } from './egress/administration-check.js';
import { AdminRelay } from './server/admin-relay.js';
import { AppModule } from './app.module.js';
import { rowLevelSecurityCheck } from './database/sessions/rls-check.js';
import { QueryPool } from './database/sessions/query-pool.js';
import { ClientAddresses } from './common/http/client-address.js';
import { StoreChecks } from './egress/store-checks.js';
import { DatabaseClock } from './database/database-clock.js';
import { reportLoops } from './common/supervision/loop-reports.js';
import { createLogger } from './common/observability/logger.js';
import { startMetrics } from './common/observability/metrics.js';
import { nestLogger } from './common/observability/nest-logger.js';
import { type ReadinessCheck, CheckFailure, Probes } from './common/supervision/probes.js';
import { collectGarbage } from './common/processes/collect-garbage.js';
import { onSupervisor, type StartedChild, startSignal, tellSupervisor } from './common/supervision/child.js';
import { setHeapLimits } from './common/processes/heap-shape.js';
import { type Settings, settingsOfProcess } from './common/settings/settings.js';
import { registerCacheMetrics } from './gateway/caching/cache-metrics.js';
import { startAccessLog } from './gateway/recording/access-log.js';
import { registerExchangeMetrics } from './gateway/recording/exchange-metrics.js';
import { registerLimitMetrics } from './gateway/limits/limit-metrics.js';
import { Limiter } from './gateway/limits/limiter.js';
import { Pipeline } from './gateway/pipeline.js';
import { Realtime } from './gateway/realtime/realtime.js';
import { attemptsEnded } from './gateway/upstream/attempt.js';
import { spoolProblem } from './request-log/spool/spool-metrics.js';
import { endLogExport } from './telemetry/log-export.js';
import { startCountedLogExport } from './telemetry/log-export-metrics.js';
import { FrontServer, refuseUnidentified } from './server/http.js';
import { serveProbesPort } from './server/probe-servers.js';

const logger = createLogger('main');

/**
 * A gateway process: serves the data plane, and relays the administration's requests to its process. It loads none of the administration's
 * code, which would cost memory, and with it garbage collection time, per request.
 */
async function main(settings: Settings, { place, database }: StartedChild): Promise<void> {
  const { databaseUrl, adminSocket } = settings;
  if (!databaseUrl || !adminSocket)
    throw new Error(
      'A gateway process needs what "gatehouse start" gives it: DATABASE_URL and GATEHOUSE_ADMIN_SOCKET.',
    );
  const pool = new QueryPool(databaseUrl.reveal(), settings.databasePoolSize);
  if (database) pool.awaitDatabase(database);
  const app = await NestFactory.createApplicationContext(AppModule.register(settings, pool), {
    logger: nestLogger,
    abortOnError: false,
  });
  startObservability(settings);
  const stores = new StoreChecks(settings);
  const clock = new DatabaseClock(pool);
  const limiter = app.get(Limiter);
  const parts = { pool, limiter, stores, clock, settings, adminSocket, isDraining: () => front.isDraining };
  const probes = probesOf(parts);
  const front: FrontServer = new FrontServer(
    {
      gateway: app.get(Pipeline),
      administration: new AdminRelay(
        adminSocket,
        app.get(ClientAddresses),
        refuseUnidentified,
        () => !pool.isAwaiting,
      ),
      sockets: app.get(Realtime),
      probes,
    },
    settings,
  );
  await app.get(DirectorySnapshot).begin(place);
  await front.listen(settings.port, settings.host);
  await serveProbesPort(probes, settings);

  onSupervisor({ drain: (isImmediate) => drain({ app, front, pool, stores, settings }, isImmediate) });
  clock.start();
  collectGarbage();
  reportLoops();
  tellSupervisor({ type: 'ready' });
}

function startObservability(settings: Settings): void {
  startMetrics();
  startCountedLogExport(settings);
  startAccessLog(settings);
  registerExchangeMetrics();
  registerLimitMetrics();
  registerCacheMetrics();
}

interface ReadinessParts {
  readonly pool: QueryPool;
  readonly limiter: Limiter;
  readonly isDraining: () => boolean;
}

interface ProbedParts extends ReadinessParts {
  readonly stores: StoreChecks;
  readonly clock: DatabaseClock;
  readonly settings: Settings;
  readonly adminSocket: string;
}

function probesOf(parts: ProbedParts): Probes {
  const { stores, clock, pool, adminSocket, settings } = parts;
  const all = [...checks(parts), ...stores.all, clock.check, ...deliveryChecks(pool)];
  return new Probes([...all, administrationCheck(adminSocket)], settings.metricsToken);
}

function checks({ pool, limiter, isDraining }: ReadinessParts): ReadinessCheck[] {
  return [
    rowLevelSecurityCheck(pool),
    {
      name: 'draining',
      isVital: true,
      run: () => {
        if (isDraining()) throw new Error('draining');
      },
    },
    {
      name: 'database',
      isVital: false,
      run: async () => {
        await pool.query('SELECT 1');
      },
    },
    {
      name: 'spool',
      isVital: false,
      run: () => {
        const problem = spoolProblem();
        if (problem !== null) throw new CheckFailure(problem);
      },
    },
    {
      name: 'limits',
      isVital: false,
      run: async () => {
        const problem = await limiter.problem();
        if (problem !== null) throw new CheckFailure(problem);
      },
    },
  ];
}

interface RunningGateway {
  readonly app: INestApplicationContext;
  readonly front: FrontServer;
  readonly pool: QueryPool;
  readonly stores: StoreChecks;
  readonly settings: Settings;
}

/**
 * Stops without failing requests: reports it in readiness, keeps serving until load balancers have noticed, lets streams finish, then
 * closes the stores. Connections of the first phase end with their response.
 */
async function drain(running: RunningGateway, isImmediate: boolean): Promise<void> {
  const { app, front, pool, stores, settings } = running;
  front.drain();
  if (!isImmediate) await delay(settings.drainDelayMs);
  const end = performance.now() + settings.drainTimeoutMs;
  await front.close(settings.drainTimeoutMs);
  // Responses that are read to their end although their clients have disconnected.
  await attemptsEnded(isImmediate ? 0 : end - performance.now());
  await app.close();
  await stores.close();
  await pool.close();
  await endLogExport();
  process.exit(0);
}

setHeapLimits();
startSignal()
  .then((started) => main(settingsOfProcess(), started))
  .catch((error: unknown) => {
    logger.fatal({ err: error }, 'The gateway process cannot start.');
    process.exit(1);
  });
