import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gatehouseBin, homeOfBuild } from './built-service.js';
import { type FreshDatabase, freshDatabase } from './fresh-database.js';
import { HttpClient } from './http-client.js';
import { freePort } from './ports.js';
import { descendants, isAlive, type ProcessFacts } from './process-tree.js';
import { eventually, sleep } from './waiting.js';

/** What the first start leaves for the operator. */
export interface Bootstrap {
  readonly organisation_id: string;
  readonly workspace_id: string;
  readonly workspace_slug: string;
  readonly admin_api_key: string;
  readonly workspace_api_key: string;
  readonly base_url: string;
  readonly setup_url: string;
}

/** Enough to find a running service again from another process. */
export interface ServiceFacts {
  readonly baseUrl: string;
  readonly dataDir: string;
  /** The folder with `bootstrap.json`: that of the instance which made the first keys of this database. */
  readonly bootstrapDir: string;
  readonly outputPath: string;
  readonly pid: number;
  /** Loopback ports that this service may call. */
  readonly egressPorts: readonly number[];
  /** The outside database, or null when the service runs its own. */
  readonly databaseUrl: string | null;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a folder of its own, removed by `dispose`. */
  readonly dataDir?: string;
  /** Where the first keys lie when another instance made them. */
  readonly bootstrapDir?: string;
  readonly egressPorts?: readonly number[];
  /** How long the service may take to be ready, in milliseconds. */
  readonly withinMs?: number;
  /** Whether it has started, where it serves nobody that could be asked. Default: `/readyz`. */
  readonly hasStarted?: (service: Service) => boolean;
  /** The command of another build, `bin/gatehouse.mjs`. */
  readonly bin?: string;
}

export interface Pids {
  readonly supervisor: number;
  readonly gateways: readonly number[];
  readonly administration: number | null;
  readonly worker: number | null;
  /** The postmaster of the embedded database. */
  readonly postgres: number | null;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const runs = (script: string) => (facts: ProcessFacts) =>
  facts.arguments.some((argument) => argument.endsWith(script));

/** A running service. Its output goes to a file, so that any process may read it. */
export class Service {
  readonly client: HttpClient;

  constructor(readonly facts: ServiceFacts) {
    this.client = new HttpClient(facts.baseUrl);
  }

  get baseUrl(): string {
    return this.facts.baseUrl;
  }

  get bootstrap(): Bootstrap {
    return JSON.parse(readFileSync(join(this.facts.bootstrapDir, 'bootstrap.json'), 'utf8')) as Bootstrap;
  }

  /** All that the service wrote to stdout and stderr. */
  get output(): string {
    return readFileSync(this.facts.outputPath, 'utf8');
  }

  get pids(): Pids {
    const family = descendants(this.facts.pid);
    const ids = (found: readonly ProcessFacts[]): number[] => found.map(({ pid }) => pid);
    const postmaster = family.find(
      ({ command, arguments: args }) => command === 'postgres' && args.includes('-D'),
    );
    return {
      supervisor: this.facts.pid,
      gateways: ids(family.filter(runs('main.js'))),
      administration: family.find(runs('administration.js'))?.pid ?? null,
      worker: family.find(runs('worker.js'))?.pid ?? null,
      postgres: postmaster?.pid ?? null,
    };
  }

  /** Whether the service answers that it is ready. */
  async ready(): Promise<boolean> {
    return (await this.client.call({ path: '/readyz' })).status === 200;
  }

  /** A metric without labels, over all processes; 0 where there is none. */
  async metric(name: string): Promise<number> {
    const line = new RegExp(`^${name} (\\S+)$`, 'm').exec(await this.metrics());
    return Number(line?.[1] ?? 0);
  }

  /** How many processes of each kind serve, as the supervisor counts them. */
  async serving(): Promise<Readonly<Record<string, number>>> {
    const lines = (await this.metrics()).matchAll(/^gatehouse_processes_ready\{process="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...lines].map(([, name, count]) => [name, Number(count)]));
  }

  private async metrics(): Promise<string> {
    return (await this.client.call({ path: '/metrics' })).body.toString();
  }

  untilReady(withinMs: number): Promise<boolean> {
    return eventually(() => this.ready(), { withinMs, everyMs: 25, what: 'readiness' });
  }
}

/** A service that this process started and can end. */
export class OwnService extends Service {
  private readonly child: ChildProcess;
  private readonly exit: Promise<Exit>;
  private readonly cleanUp: () => Promise<void>;

  constructor(facts: ServiceFacts, child: ChildProcess, ended: Promise<Exit>, cleanUp: () => Promise<void>) {
    super(facts);
    this.child = child;
    this.exit = ended;
    this.cleanUp = cleanUp;
  }

  get ended(): Promise<Exit> {
    return this.exit;
  }

  /** Asks it to end, as an operator would, and waits until it has. */
  async stop(withinMs = 60_000): Promise<Exit> {
    this.child.kill('SIGTERM');
    const exit = await this.endedWithin(withinMs);
    if (!exit)
      throw new Error(
        `The service did not end within ${withinMs} ms of SIGTERM.\n${this.output.slice(-4_000)}`,
      );
    return exit;
  }

  private endedWithin(ms: number): Promise<Exit | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), ms);
      void this.exit.then((exit) => {
        clearTimeout(timer);
        resolve(exit);
      });
    });
  }

  /** `kill -9` of the supervisor, and nothing else. */
  async kill(): Promise<Exit> {
    this.child.kill('SIGKILL');
    return this.exit;
  }

  /** Ends whatever is left of it and removes its traces. */
  async dispose(): Promise<void> {
    const family = [this.facts.pid, ...descendants(this.facts.pid).map(({ pid }) => pid)];
    if (this.child.exitCode === null && this.child.signalCode === null)
      await this.stop().catch(() => this.kill());
    const deadline = Date.now() + 10_000;
    while (family.some(isAlive) && Date.now() < deadline) await sleep(25);
    for (const pid of family.filter(isAlive)) process.kill(pid, 'SIGKILL');
    this.client.close();
    await this.cleanUp();
  }
}

interface Launch {
  readonly child: ChildProcess;
  readonly ended: Promise<Exit>;
  readonly outputPath: string;
}

/** Runs the command of the service with these settings and no others. */
export function launch(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  bin = gatehouseBin(),
): Launch {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-output-'));
  const outputPath = join(folder, 'output.log');
  const file = openSync(outputPath, 'a');
  const { PATH = '', HOME = '', LANG = 'C.UTF-8' } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: homeOfBuild(bin),
    env: { PATH, HOME, LANG, ...env },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  const ended = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return { child, ended, outputPath };
}

export interface Run extends Exit {
  readonly output: string;
  readonly ms: number;
}

/** Runs the command to its end. For starts that are meant to be refused. */
export async function runToEnd(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  withinMs = 60_000,
  bin = gatehouseBin(),
): Promise<Run> {
  const started = Date.now();
  const { child, ended, outputPath } = launch(args, env, bin);
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const exit = await ended;
  clearTimeout(timer);
  const output = readFileSync(outputPath, 'utf8');
  rmSync(dirname(outputPath), { recursive: true, force: true });
  return { ...exit, output, ms: Date.now() - started };
}

export const egressAllow = (ports: readonly number[]): string =>
  ports.map((port) => `127.0.0.1:${port}`).join(',');

/** The outside stores that the caller of the tests gave, if any. */
export async function outsideStores(): Promise<{
  env: Record<string, string>;
  database: FreshDatabase | null;
}> {
  const database = await freshDatabase();
  const redis = process.env['TEST_REDIS_URL'];
  return {
    database,
    env: { ...(database ? { DATABASE_URL: database.url } : {}), ...(redis ? { REDIS_URL: redis } : {}) },
  };
}

/**
 * Starts the built service and waits until it is ready. With TEST_DATABASE_URL it gets a database of
 * its own on that server, with TEST_REDIS_URL that Redis; otherwise it runs on nothing but itself.
 */
export async function startService(options: StartOptions = {}): Promise<OwnService> {
  const { env = {}, egressPorts = [], withinMs = 90_000 } = options;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'gatehouse-data-'));
  const stores = env['DATABASE_URL'] ? { env: {}, database: null } : await outsideStores();
  const port = env['GATEHOUSE_PORT'] ?? String(await freePort());
  const settings = {
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_PORT: port,
    GATEHOUSE_EGRESS_ALLOW: egressAllow(egressPorts),
    ...stores.env,
    ...env,
  };
  const { child, ended, outputPath } = launch(['start'], settings, options.bin);
  const facts: ServiceFacts = {
    baseUrl: `http://127.0.0.1:${port}`,
    dataDir,
    bootstrapDir: options.bootstrapDir ?? dataDir,
    outputPath,
    pid: child.pid ?? 0,
    egressPorts,
    databaseUrl: env['DATABASE_URL'] ?? stores.database?.url ?? null,
  };
  const service = new OwnService(facts, child, ended, async () => {
    if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true });
    rmSync(dirname(outputPath), { recursive: true, force: true });
    await stores.database?.drop();
  });
  const early = ended.then((exit) => ({ exit }));
  const outcome = await Promise.race([
    early,
    started(service, options.hasStarted, withinMs).catch((error: unknown) => ({ error: String(error) })),
  ]);
  if (outcome === true) return service;
  const { output } = service;
  await service.dispose();
  throw new Error(`The service did not come up (${JSON.stringify(outcome)}):\n${output}`);
}

function started(
  service: Service,
  hasStarted: StartOptions['hasStarted'],
  withinMs: number,
): Promise<boolean> {
  if (!hasStarted) return service.untilReady(withinMs);
  return eventually(() => hasStarted(service), { withinMs, what: 'the start' });
}
