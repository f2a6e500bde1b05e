import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { freePort } from './ports.js';
import { isAvailable } from './machine.js';
import { eventually } from './waiting.js';

/** A Redis of one test's own, which keeps nothing on disk: killed, it has lost everything. */
export class OwnRedis {
  private server: ChildProcess | null = null;

  private constructor(private readonly port: number) {}

  /** Null if this machine has no Redis; in CI that is an error. */
  static async start(): Promise<OwnRedis | null> {
    const isInstalled = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
    if (!isAvailable('redis-server', isInstalled, 'Install redis-server.')) return null;
    const redis = new OwnRedis(await freePort());
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const settings = [
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
    ];
    this.server = spawn('redis-server', ['--port', String(this.port), ...settings], { stdio: 'ignore' });
    await eventually(() => this.answers(), { what: 'the own Redis' });
  }

  async kill(): Promise<void> {
    const server = this.server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((done) => server.once('exit', done));
    server.kill('SIGKILL');
    await gone;
  }

  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }
}
