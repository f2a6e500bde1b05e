import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { createDataSource } from '../../src/schema/data-source.js';
import { migrate } from '../../src/schema/migrate.js';
import { administer } from './administer.js';
import { PostgresCluster } from './postgres-cluster.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may make databases. */
    postgresUrl: string;
    /** A database there that has the schema and no rows, to which nobody is connected. */
    templateDatabase: string;
  }
}

/** Each worker has pools of several processes' worth. Tests need no durability, so the disk is not waited for. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 400 };

/** One PostgreSQL for all integration tests: that of TEST_DATABASE_URL, or an embedded one that lives as long as they run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const server = given ? { url: given, end: async () => undefined } : await ownServer();
  const template = await makeTemplate(server.url);
  project.provide('postgresUrl', server.url);
  project.provide('templateDatabase', template.name);
  return async () => {
    await template.drop();
    await server.end();
  };
}

async function ownServer(): Promise<{ url: string; end(): Promise<void> }> {
  const cluster = await PostgresCluster.make('tests', ['--no-sync']);
  const server = await cluster.start(SETTINGS);
  const end = async (): Promise<void> => {
    const gone = new Promise((done) => server.once('exit', done));
    if (server.exitCode === null && server.kill('SIGINT')) await gone;
    cluster.remove();
  };
  return { url: cluster.url, end };
}

/** Every database of a test file is a copy of this one: copying it takes a tenth of the time that all migrations take. */
async function makeTemplate(server: string): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `gatehouse_template_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const setUp = await createDataSource(url.href, 2, 'migrations').initialize();
  await migrate(setUp);
  await setUp.destroy();
  return { name, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
