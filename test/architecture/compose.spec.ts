import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, Service>> };

let parent: string;
let folder: string;
let databaseFolder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'secrets-'));
  folder = join(parent, 'gateway');
  databaseFolder = join(parent, 'database');
});
afterEach(() => {
  rmSync(parent, { recursive: true });
});

/** The services with the files that they mount as secrets, by the volume. */
const readersOf = (volume: string) =>
  Object.entries(services).filter(([, { volumes = [] }]) => volumes.includes(`${volume}:/run/secrets:ro`));

const contentOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const makeSecrets = (): void => {
  execFileSync(process.execPath, [join(root, 'bin/make-secrets.mjs'), folder, 'postgres', databaseFolder]);
};

describe('docker compose', () => {
  it('makes every secret that a service reads, before that service starts, and shows it no others', () => {
    makeSecrets();
    const wantedBy = (readers: typeof gateways): Set<string> =>
      new Set(
        readers
          .flatMap(([, { environment = {} }]) => Object.values(environment))
          .flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []),
      );
    const gateways = readersOf('secrets');
    const databases = readersOf('database-secrets');

    expect(gateways.map(([name]) => name)).toEqual(['api', 'worker']);
    expect(databases.map(([name]) => name)).toEqual(['postgres']);
    for (const name of wantedBy(gateways)) expect(readdirSync(folder)).toContain(name);
    for (const [, { depends_on }] of [...gateways, ...databases])
      expect(depends_on?.['secrets']).toEqual({ condition: 'service_completed_successfully' });
    // The database gets no secret but its own.
    expect(readdirSync(databaseFolder)).toEqual([...wantedBy(databases)]);
    expect(readFileSync(join(databaseFolder, 'postgres_password'), 'utf8')).toBe(
      contentOf('postgres_password'),
    );
    expect(services['secrets']?.entrypoint).toEqual([
      'node',
      '/app/bin/make-secrets.mjs',
      '/secrets',
      'postgres',
      '/database-secrets',
    ]);
  });

  it('keeps secrets that exist, and shows them to their owner only', () => {
    makeSecrets();
    const first = readdirSync(folder).map(contentOf);
    makeSecrets();

    expect(readdirSync(folder).map(contentOf)).toEqual(first);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o400);
    expect(Buffer.from(contentOf('master_key'), 'base64')).toHaveLength(32);
    expect(contentOf('database_url')).toBe(
      `postgres://gatehouse:${contentOf('postgres_password')}@postgres:5432/gatehouse`,
    );
  });

  describe('with TLS and ClickHouse', () => {
    const overlay = parse(readFileSync(join(root, 'deploy/compose/production.yml'), 'utf8'), {
      merge: true,
      customTags: [{ tag: '!reset', collection: 'seq', identify: () => false }],
    }) as {
      readonly services: Readonly<Record<string, Service>>;
      readonly networks: Readonly<
        Record<string, { readonly ipam: { readonly config: readonly { subnet: string }[] } }>
      >;
    };

    it('makes the password of ClickHouse for ClickHouse, and its address for the gateways', () => {
      const clickHouseFolder = join(parent, 'clickhouse');
      const [node, program, , host = '', , clickHouse = '', folderInImage] =
        overlay.services['secrets']?.entrypoint ?? [];
      execFileSync(process.execPath, [
        join(root, 'bin/make-secrets.mjs'),
        ...[folder, host, databaseFolder, clickHouse, clickHouseFolder],
      ]);
      const password = readFileSync(join(clickHouseFolder, 'clickhouse_password'), 'utf8');

      expect([node, program, folderInImage]).toEqual([
        'node',
        '/app/bin/make-secrets.mjs',
        '/clickhouse-secrets',
      ]);
      expect(readdirSync(clickHouseFolder)).toEqual(['clickhouse_password']);
      expect(readdirSync(databaseFolder)).toEqual(['postgres_password']);
      expect(contentOf('clickhouse_url')).toBe(`http://gatehouse:${password}@clickhouse:8123/gatehouse`);
      for (const name of ['api', 'worker'])
        expect(overlay.services[name]?.environment?.['CLICKHOUSE_URL_FILE']).toBe(
          '/run/secrets/clickhouse_url',
        );
      // The image creates the folder with the owner that may write to it.
      expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(` ${folderInImage ?? 'missing'}\n`);
    });

    it('publishes the ports of the proxy only', () => {
      const published = Object.entries({ ...services, ...overlay.services }).filter(
        ([, { ports = [] }]) => ports.length > 0,
      );

      expect(published.map(([name]) => name)).toEqual(['caddy']);
      expect(overlay.services['api']?.ports).toEqual([]);
    });

    it('trusts the addresses of the proxy by the network that both share', () => {
      const [subnet] = overlay.networks['edge']?.ipam.config.map(({ subnet }) => subnet) ?? [];

      expect(overlay.services['api']?.environment?.['GATEHOUSE_TRUSTED_PROXIES']).toBe(subnet);
      expect(overlay.services['caddy']?.networks).toEqual(['edge']);
      expect(overlay.services['api']?.networks).toContain('edge');
    });
  });
});
