import type { TestProject } from 'vitest/node';
import { PostgresCluster } from './postgres-cluster.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may make databases. */
    postgresUrl: string;
  }
}

/** Each worker has pools of several processes' worth. Tests need no durability, so the disk is not waited for. */
const SETTINGS = { fsync: 'off', max_connections: 400 };

/** One PostgreSQL for all integration tests: that of TEST_DATABASE_URL, or an embedded one that lives as long as they run. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return undefined;
  }
  const cluster = await PostgresCluster.make('tests', ['--no-sync']);
  const server = await cluster.start(SETTINGS);
  project.provide('postgresUrl', cluster.url);
  return async () => {
    const gone = new Promise((done) => server.once('exit', done));
    if (server.exitCode === null && server.kill('SIGINT')) await gone;
    cluster.remove();
  };
}
