import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Administration } from '../support/administration.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { OwnRedis } from '../support/own-redis.js';
import { freePort } from '../support/ports.js';
import { descendants } from '../support/process-tree.js';
import { type OwnService, outsideStores, type Service, startService } from '../support/service.js';
import type { Started } from '../support/started.js';
import { TcpProxy } from '../support/tcp-proxy.js';

export const API_MACHINES = 3;
export const WORKER_MACHINES = 2;

/** A worker serves nobody. */
export const worksInBackground = ({ pids, output }: Service): boolean =>
  pids.worker !== null && output.includes('Gatehouse is ready');

export const randomKey = (): string => randomBytes(32).toString('base64');

/** One instance with a data folder of its own, and a fault proxy of its own to each store. */
export class Machine {
  isUp = false;
  private runningService: OwnService | null = null;

  constructor(
    readonly name: string,
    readonly database: TcpProxy,
    readonly redis: TcpProxy,
    private readonly plan: {
      readonly env: Readonly<Record<string, string>>;
      readonly dataDir: string;
      readonly bootstrapDir?: string;
      readonly egressPorts: readonly number[];
      readonly hasStarted?: (service: Service) => boolean;
    },
  ) {}

  get service(): OwnService {
    if (!this.runningService) throw new Error(`${this.name} was never started.`);
    return this.runningService;
  }

  async start(): Promise<void> {
    this.runningService = await startService(this.plan);
    this.isUp = true;
  }

  /** `kill -9` of every process of it, as a machine that loses its power. */
  async kill(): Promise<void> {
    this.isUp = false;
    const { service } = this;
    const family = [service.facts.pid, ...descendants(service.facts.pid).map(({ pid }) => pid)];
    for (const pid of family)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    await service.ended;
    service.client.close();
  }

  async stop(): Promise<void> {
    this.isUp = false;
    await this.runningService?.dispose();
  }
}

/** Several machines on one PostgreSQL and one Redis. */
export class Machines {
  private constructor(
    readonly apis: readonly Machine[],
    readonly workers: readonly Machine[],
    readonly administration: Administration,
    /** Straight to the stores, past all proxies. */
    readonly stores: { readonly database: pg.Pool; readonly redisUrl: string },
  ) {}

  get all(): readonly Machine[] {
    return [...this.apis, ...this.workers];
  }

  /** Null where there is no Redis on this machine. */
  static async start(started: Started, egressPorts: readonly number[]): Promise<Machines | null> {
    const stores = await storesOf(started);
    if (!stores) return null;
    const keys = { GATEHOUSE_MASTER_KEY: randomKey(), GATEHOUSE_KEY_PEPPER: randomKey() };
    let bootstrapDir: string | undefined;
    const machine = async (name: string, role: 'api' | 'worker'): Promise<Machine> => {
      const database = await TcpProxy.before(stores.databaseUrl);
      const redis = await TcpProxy.before(stores.redisUrl);
      for (const { proxy } of [database, redis]) started.add(proxy, (it) => it.stop());
      const dataDir = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`));
      started.add(dataDir, (it) => rmSync(it, { recursive: true, force: true }));
      const env = {
        ...keys,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        GATEHOUSE_ROLE: role,
        GATEHOUSE_PROCESSES: '1',
        GATEHOUSE_PORT: String(await freePort()),
        GATEHOUSE_DRAIN_DELAY_MS: '0',
      };
      const plan = {
        env,
        dataDir,
        egressPorts,
        ...(bootstrapDir ? { bootstrapDir } : {}),
        ...(role === 'worker' ? { hasStarted: worksInBackground } : {}),
      };
      const made = new Machine(name, database.proxy, redis.proxy, plan);
      started.add(made, (it) => it.stop());
      await made.start();
      bootstrapDir ??= dataDir;
      return made;
    };
    // The first prepares the database and makes the first keys.
    const apis = [await machine('api-1', 'api')];
    for (let at = 2; at <= API_MACHINES; at++) apis.push(await machine(`api-${at}`, 'api'));
    const workers: Machine[] = [];
    for (let at = 1; at <= WORKER_MACHINES; at++) workers.push(await machine(`worker-${at}`, 'worker'));
    const database = new pg.Pool({ connectionString: stores.databaseUrl, max: 2 });
    started.add(database, (it) => it.end()).on('error', () => undefined);
    return new Machines(apis, workers, new Administration((apis[0] as Machine).service), {
      database,
      redisUrl: stores.redisUrl,
    });
  }
}

/** Those of TEST_DATABASE_URL and TEST_REDIS_URL where both are given, otherwise servers of this test's own. */
export async function storesOf(
  started: Started,
): Promise<{ readonly databaseUrl: string; readonly redisUrl: string } | null> {
  const redisUrl = process.env['TEST_REDIS_URL'];
  if (redisUrl && process.env['TEST_DATABASE_URL']) {
    const { database } = await outsideStores();
    if (database) {
      started.add(database, (it) => it.drop());
      return { databaseUrl: database.url, redisUrl };
    }
  }
  const redis = await OwnRedis.start();
  if (!redis) return null;
  started.add(redis, (it) => it.kill());
  const postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
  return { databaseUrl: postgres.url, redisUrl: redis.url };
}
