import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Redis } from 'ioredis';
import { type CertificateFiles, pemOf, type TestAuthority } from './certificates.js';
import { isAvailable } from './machine.js';
import { freePort } from './ports.js';
import { PostgresCluster } from './postgres-cluster.js';
import { eventually } from './waiting.js';

/** Parameters of a store's URL, for these files. */
const parametersOf = ({ cert, key }: CertificateFiles, authority: TestAuthority): string =>
  String(new URLSearchParams({ sslrootcert: authority.cert, sslcert: cert, sslkey: key }));

/** A PostgreSQL whose database `gatehouse` needs TLS and a client certificate that names the user: clientcert=verify-full. */
export class TlsPostgres {
  private constructor(
    private readonly cluster: PostgresCluster,
    private readonly server: ChildProcess,
    private readonly authority: TestAuthority,
  ) {}

  static async start(authority: TestAuthority): Promise<TlsPostgres> {
    const cluster = await PostgresCluster.make('tls-postgres');
    const { uid, gid } = statSync(cluster.folder);
    const server = authority.issue('postgres-server');
    for (const [from, to] of [
      [server.cert, 'server.crt'],
      [server.key, 'server.key'],
      [authority.cert, 'root.crt'],
    ] as const) {
      copyFileSync(from, join(cluster.folder, to));
      chownSync(join(cluster.folder, to), uid, gid);
      chmodSync(join(cluster.folder, to), 0o600);
    }
    // The database `postgres` stays open for the support code, which waits until the server answers.
    writeFileSync(
      join(cluster.folder, 'pg_hba.conf'),
      [
        'hostnossl postgres postgres 127.0.0.1/32 trust',
        'hostssl gatehouse postgres 127.0.0.1/32 trust clientcert=verify-full',
        'host all all 0.0.0.0/0 reject',
      ].join('\n'),
    );
    const tls = {
      ssl: 'on',
      ssl_cert_file: 'server.crt',
      ssl_key_file: 'server.key',
      ssl_ca_file: 'root.crt',
    };
    const postgres = new TlsPostgres(cluster, await cluster.start(tls), authority);
    await postgres.query('CREATE DATABASE gatehouse');
    return postgres;
  }

  /** Without files: TLS, and no client certificate. */
  url(files?: CertificateFiles): string {
    const bare = this.cluster.url.replace(/postgres$/, 'gatehouse');
    const more = files ? parametersOf(files, this.authority) : `sslrootcert=${this.authority.cert}`;
    return `${bare}?sslmode=verify-full&${more}`;
  }

  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.cluster.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    const gone = new Promise((done) => this.server.once('exit', done));
    if (this.server.pid) process.kill(-this.server.pid, 'SIGKILL');
    await gone;
    this.cluster.remove();
  }
}

/** A Redis that serves only TLS, and only clients with a certificate. */
export class TlsRedis {
  private constructor(
    private readonly server: ChildProcess,
    private readonly port: number,
    private readonly authority: TestAuthority,
  ) {}

  /** Null if this machine has no Redis with TLS; in CI that is an error. */
  static async start(authority: TestAuthority): Promise<TlsRedis | null> {
    const isInstalled = spawnSync('redis-server', ['--version']).status === 0;
    if (!isAvailable('redis-server', isInstalled, 'Install redis-server.')) return null;
    const port = await freePort();
    const { cert, key } = authority.issue('redis-server');
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', authority.cert];
    const args = ['--bind', '127.0.0.1', '--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'yes'];
    const kept = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
    const redis = new TlsRedis(
      spawn('redis-server', [...args, ...tls, ...kept], { stdio: 'ignore' }),
      port,
      authority,
    );
    const files = authority.issue('redis-probe');
    await eventually(() => redis.answers(files), { what: 'the Redis with TLS' });
    return redis;
  }

  url(files?: CertificateFiles): string {
    const more = files ? parametersOf(files, this.authority) : `sslrootcert=${this.authority.cert}`;
    return `rediss://127.0.0.1:${this.port}?${more}`;
  }

  client(files: CertificateFiles): Redis {
    const tls = { ...pemOf(files), ca: this.authority.pem };
    const client = new Redis({ port: this.port, tls, lazyConnect: true, retryStrategy: () => null });
    return client.on('error', () => undefined);
  }

  async stop(): Promise<void> {
    const gone = new Promise((done) => this.server.once('exit', done));
    this.server.kill('SIGKILL');
    await gone;
  }

  private async answers(files: CertificateFiles): Promise<boolean> {
    const client = this.client(files);
    try {
      await client.connect();
      return (await client.ping()) === 'PONG';
    } catch {
      return false;
    } finally {
      client.disconnect();
    }
  }
}
