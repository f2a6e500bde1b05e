import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.js';
import { isAvailable } from '../support/machine.js';
import { eventually } from '../support/waiting.js';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value as text. */
  readonly value: readonly [number, string];
}

/** A Prometheus of one test's own, which scrapes one address every second. */
export class OwnPrometheus {
  private constructor(
    private readonly server: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
  ) {}

  /** Null if this machine has no Prometheus; in CI that is an error. */
  static async start(target: string, rules: string): Promise<OwnPrometheus | null> {
    const isInstalled = spawnSync('prometheus', ['--version'], { stdio: 'ignore' }).status === 0;
    if (!isAvailable('prometheus', isInstalled, 'Install prometheus.')) return null;
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'gatehouse', static_configs: [{ targets: [target] }] }],
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    const server = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const prometheus = new OwnPrometheus(server, `http://${address}`, folder);
    await eventually(async () => (await fetch(`http://${address}/-/ready`)).ok, { what: 'Prometheus' });
    return prometheus;
  }

  /** The present result of an expression. Rejects when Prometheus refuses it. */
  async query(expression: string): Promise<readonly Series[]> {
    const response = await fetch(`${this.url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expression }),
    });
    const answer = (await response.json()) as { error?: string; data: { result: readonly Series[] } };
    if (!response.ok) throw new Error(`${expression}: ${answer.error ?? response.status}`);
    return answer.data.result;
  }

  async stop(): Promise<void> {
    const ended = new Promise((done) => this.server.once('exit', done));
    this.server.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
