import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { randomKey, storesOf, worksInBackground } from '../several-machines/machines.js';
import { freePort } from '../support/ports.js';
import { descendants } from '../support/process-tree.js';
import { egressAllow, type OwnService, type Run, runToEnd, startService } from '../support/service.js';
import type { Started } from '../support/started.js';

/** The first owner, by the settings. */
export const OWNER = { email: 'owner@example.com', password: 'seven-lanterns-in-quiet-harbour' };

/** Ten looks of the load balancer. */
const DRAIN_DELAY_MS = 1_500;

/** An instance that different releases run, one after the other, on the same data folder and port. */
export interface Place {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly port: number;
  readonly dataDir: string;
  /** Default: the common database. */
  readonly databaseUrl?: string;
}

/** Instances of several releases on one PostgreSQL and one Redis. */
export class Fleet {
  private readonly services = new Map<string, OwnService>();
  private readonly keys = { GATEHOUSE_MASTER_KEY: randomKey(), GATEHOUSE_KEY_PEPPER: randomKey() };
  private bootstrapDir: string | undefined;

  private constructor(
    readonly databaseUrl: string,
    readonly database: pg.Pool,
    private readonly redisUrl: string,
    private readonly egressPorts: readonly number[],
    private readonly started: Started,
  ) {}

  /** Null where there is no Redis on this machine. */
  static async create(started: Started, egressPorts: readonly number[]): Promise<Fleet | null> {
    const stores = await storesOf(started);
    if (!stores) return null;
    const database = started.add(new pg.Pool({ connectionString: stores.databaseUrl, max: 2 }), (it) =>
      it.end(),
    );
    database.on('error', () => undefined);
    return new Fleet(stores.databaseUrl, database, stores.redisUrl, egressPorts, started);
  }

  async place(name: string, role: Place['role'], databaseUrl?: string): Promise<Place> {
    const dataDir = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`));
    this.started.add(dataDir, (it) => rmSync(it, { recursive: true, force: true }));
    const place = { name, role, port: await freePort(), dataDir };
    this.started.add(place, () => this.services.get(name)?.dispose());
    return databaseUrl === undefined ? place : { ...place, databaseUrl };
  }

  service(place: Place): OwnService {
    const service = this.services.get(place.name);
    if (!service) throw new Error(`${place.name} was never started.`);
    return service;
  }

  async start(place: Place, bin: string): Promise<OwnService> {
    const service = await startService({
      bin,
      dataDir: place.dataDir,
      env: this.settings(place),
      egressPorts: this.egressPorts,
      ...(this.bootstrapDir ? { bootstrapDir: this.bootstrapDir } : {}),
      ...(place.role === 'worker' ? { hasStarted: worksInBackground } : {}),
    });
    this.bootstrapDir ??= place.dataDir;
    this.services.set(place.name, service);
    return service;
  }

  /** As an operator does: SIGTERM, wait for its end, and start the other release. */
  async replace(place: Place, bin: string): Promise<OwnService> {
    const { code, signal } = await this.service(place).stop(90_000);
    if (code !== 0) throw new Error(`${place.name} ended with code ${code} and signal ${signal}.`);
    return this.start(place, bin);
  }

  /** SIGKILL to all of its processes, so that what is in its spool stays there. */
  async kill(place: Place): Promise<void> {
    const service = this.service(place);
    for (const pid of [service.facts.pid, ...descendants(service.facts.pid).map((each) => each.pid)])
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    await service.ended;
    service.client.close();
  }

  /** A command with the settings of an instance. */
  run(place: Place, bin: string | undefined, ...args: readonly string[]): Promise<Run> {
    return runToEnd(args, { ...this.settings(place), GATEHOUSE_DATA_DIR: place.dataDir }, 120_000, bin);
  }

  private settings({ role, port, databaseUrl }: Place): Record<string, string> {
    return {
      ...this.keys,
      DATABASE_URL: databaseUrl ?? this.databaseUrl,
      REDIS_URL: this.redisUrl,
      GATEHOUSE_ROLE: role,
      GATEHOUSE_PORT: String(port),
      GATEHOUSE_PROCESSES: '1',
      GATEHOUSE_DRAIN_DELAY_MS: String(DRAIN_DELAY_MS),
      GATEHOUSE_INIT_OWNER_EMAIL: OWNER.email,
      GATEHOUSE_INIT_OWNER_PASSWORD: OWNER.password,
      GATEHOUSE_EGRESS_ALLOW: egressAllow(this.egressPorts),
    };
  }
}
