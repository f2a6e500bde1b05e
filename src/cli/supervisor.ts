import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createLogger } from '../common/observability/logger.js';
import { baseUrl } from '../common/settings/base-url.js';
import { loadSettings, type Settings } from '../common/settings/settings.js';
import { banner } from './banner.js';
import { type BootstrapFile, refreshBaseUrl } from './bootstrap-file.js';
import { openDataFolder, pathsOf, resolveSecrets } from './data-folder.js';
import { awaitInstallation, type Preparation } from './database/prepare-database.js';
import { prepareOrServeWithout } from './database/start-in-outage.js';
import { EmbeddedPostgres } from './embedded-postgres.js';
import { FolderLock } from './folder/folder-lock.js';
import {
  type ChildEnvironment,
  childEnvironment,
  connectionsNeeded,
  forgetChildEnvironment,
  giveDatabaseUrl,
} from './launch-plan.js';
import { endLogExport, startLogExport } from '../telemetry/log-export.js';
import { Fleet } from './processes/fleet.js';
import { checkCertificateFiles } from './check-certificate-files.js';
import { switchLogLevelOnSignal } from './log-level-signal.js';
import { findPort } from './processes/free-port.js';
import { writeRunningSettings } from './running-settings.js';
import { StopRequests } from './stop-requests.js';
import { complain, explain, say } from './terminal.js';
import { logFormat } from '../common/settings/log-settings.js';

const logger = createLogger('launcher');
const notice = (text: string): void => logger.info(text);

/** Until then, a port that another process took is replaced by another port. */
const POSTGRES_TIMEOUT_MS = 3_000;

const PROGRAMS = {
  gateway: fileURLToPath(new URL('../main.js', import.meta.url)),
  administration: fileURLToPath(new URL('../administration.js', import.meta.url)),
  worker: fileURLToPath(new URL('../worker.js', import.meta.url)),
};

/**
 * `gatehouse start`: supervises all processes of one instance. Returns the exit code when all have ended.
 *
 * Up: data folder, port, secrets, processes (which wait), database, schema, go. Down: gateways, worker, database, lock.
 */
export async function start(environment: NodeJS.ProcessEnv): Promise<number> {
  const stop = new StopRequests();
  const settings = loadSettings(environment);
  startLogExport(settings);
  await openDataFolder(settings.dataDir);
  const lock = await FolderLock.acquire(settings.dataDir, notice);
  try {
    return await new Supervisor(settings, stop, environment).run();
  } finally {
    await forgetChildEnvironment(settings.dataDir);
    await lock.release();
    await endLogExport();
  }
}

/** Outside a terminal, the output usually ends up in a log store, where secrets do not belong. */
const FIRST_KEYS = 'The first API keys and the set-up link of the dashboard are in the bootstrap file.';

function startingText({ role, processes }: Settings): string {
  if (role === 'worker') return 'Starting the background process.';
  return `Starting ${processes} gateway ${processes === 1 ? 'process' : 'processes'}.`;
}

class Supervisor {
  private postgres: Promise<EmbeddedPostgres> | null = null;
  private fleet: Fleet | null = null;
  private fail: (error: Error) => void = () => undefined;
  /** Rejects when a part cannot be restarted. */
  private readonly failed = new Promise<never>((_, reject) => (this.fail = reject));
  private goingDown = false;
  private announced = false;

  constructor(
    private readonly settings: Settings,
    private readonly stop: StopRequests,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  async run(): Promise<number> {
    switchLogLevelOnSignal(this.settings.logLevel, (level) => this.fleet?.logAt(level));
    try {
      await Promise.race([this.serve(), this.failed]);
      return 0;
    } catch (error) {
      if (this.stop.signal.aborted) return 0;
      complain(explain(error));
      return 1;
    } finally {
      await this.shutDown();
    }
  }

  private async serve(): Promise<void> {
    const { settings, stop } = this;
    const { dataDir } = settings;
    checkCertificateFiles(settings, this.environment);
    const port = await findPort(settings.host, settings.port);
    if (settings.probesPort !== null)
      await findPort(settings.host, settings.probesPort, 'GATEHOUSE_PROBES_PORT');
    const address = baseUrl(settings, port);
    const secrets = await resolveSecrets(settings);
    const children = await childEnvironment(settings, port, secrets);
    await writeRunningSettings(dataDir, port, this.environment);
    const fleet = this.startFleet(children);

    const database = await this.openDatabase();
    this.goOn();
    const made = await this.prepare(
      { ...database, secrets, dataDir, baseUrl: address, signal: stop.signal, notice },
      fleet,
    );
    await giveDatabaseUrl(dataDir, database.url);
    this.goOn();

    notice(startingText(settings));
    fleet.release();
    await Promise.race([fleet.ready(), stop.requested()]);
    if (stop.signal.aborted) return;
    this.announce(address, made);
    await stop.requested();
  }

  /** The database, embedded or not, may be unavailable for a while. */
  private async prepare(
    terms: Omit<Preparation, 'makesFirstKeys' | 'initOwner'>,
    fleet: Fleet,
  ): Promise<BootstrapFile | null> {
    const { settings, stop } = this;
    const isWorker = settings.role === 'worker';
    const preparation = { ...terms, makesFirstKeys: !isWorker, initOwner: settings.initOwner };
    const made = await prepareOrServeWithout(preparation, settings, async () => {
      await giveDatabaseUrl(settings.dataDir, preparation.url);
      this.goOn();
      await Promise.race([fleet.serveWithoutDatabase(), stop.requested()]);
      const { baseUrl: address } = preparation;
      logger.info(
        { address, start_ms: Math.round(performance.now()) },
        'Gatehouse serves without its database, from the snapshot of keys and configs.',
      );
    });
    if (isWorker) await awaitInstallation(preparation);
    // A worker's address is that of its probes, not the one that clients use.
    else if (!made) await refreshBaseUrl(settings.dataDir, preparation.baseUrl);
    return made;
  }

  /** Loading their code takes the processes longest, so they do it while the database starts. */
  private startFleet(environment: ChildEnvironment): Fleet {
    const { role, processes } = this.settings;
    const fleet = new Fleet({
      gateways: role === 'worker' ? 0 : processes,
      programs: PROGRAMS,
      environment,
      onLost: (error) => this.fail(error),
    });
    this.fleet = fleet;
    this.stop.onHurry = () => fleet.hurry();
    fleet.start();
    return fleet;
  }

  /** A step takes time, during which the operator or a failed part may have stopped the instance. */
  private goOn(): void {
    this.stop.signal.throwIfAborted();
    if (this.goingDown) throw new Error('The instance is shutting down.');
  }

  /**
   * The configured database, or else the embedded one, after a short wait. If it does not come up, starting it continues and requests are
   * still served.
   */
  private async openDatabase(): Promise<Pick<Preparation, 'url' | 'server'>> {
    const { databaseUrl } = this.settings;
    if (databaseUrl) return { url: databaseUrl, server: null };
    notice('Starting the embedded PostgreSQL.');
    this.postgres = EmbeddedPostgres.start({
      dataDir: this.settings.dataDir,
      maxConnections: connectionsNeeded(this.settings),
    });
    const server = await this.postgres;
    await server.untilUp(POSTGRES_TIMEOUT_MS).catch(() => undefined);
    return { url: server.url, server };
  }

  private announce(address: string, made: BootstrapFile | null): void {
    this.announced = true;
    const { role, processes, dataDir } = this.settings;
    const bootstrapPath = pathsOf(dataDir).bootstrap;
    const keysKept = existsSync(bootstrapPath);
    const showsKeys = process.stdout.isTTY;
    if (logFormat() === 'text' && role !== 'worker')
      say(banner({ baseUrl: address, bootstrapPath, made, keysKept, showsKeys }));
    else if (made) logger.info({ bootstrap_file: bootstrapPath }, FIRST_KEYS);
    logger.info({ address, role, processes, start_ms: Math.round(performance.now()) }, 'Gatehouse is ready.');
  }

  private async shutDown(): Promise<void> {
    this.goingDown = true;
    const { drainDelayMs: delayMs, drainTimeoutMs: timeoutMs, drainSpoolMs: spoolMs } = this.settings;
    const immediate = this.stop.immediate || !this.stop.signal.aborted;
    await this.fleet?.drain(immediate, { delayMs, timeoutMs, spoolMs });
    // Waits for a database that is still starting; a failed one was already reported.
    const postgres = await this.postgres?.catch(() => null);
    await postgres?.stop();
    if (this.announced) logger.info('Gatehouse has stopped.');
  }
}
