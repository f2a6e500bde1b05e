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
}

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, Service>> };
const readers = Object.entries(services).filter(([, { volumes = [] }]) =>
  volumes.includes('secrets:/run/secrets:ro'),
);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const contentOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const makeSecrets = (): void => {
  execFileSync(process.execPath, [join(root, 'bin/make-secrets.mjs'), folder, 'postgres']);
};

describe('docker compose', () => {
  it('makes every secret that a service reads, before that service starts', () => {
    makeSecrets();
    const wanted = Object.values(services)
      .flatMap(({ environment = {} }) => Object.values(environment))
      .flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);

    expect(new Set(wanted)).toEqual(new Set(readdirSync(folder)));
    expect(readers.map(([name]) => name)).toEqual(['api', 'worker', 'postgres']);
    for (const [, { depends_on }] of readers)
      expect(depends_on?.['secrets']).toEqual({ condition: 'service_completed_successfully' });
    expect(services['secrets']?.entrypoint).toEqual([
      'node',
      '/app/bin/make-secrets.mjs',
      '/secrets',
      'postgres',
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
});
