import { randomBytes } from 'node:crypto';
import { administer } from './administer.js';

/** An empty database on the server of TEST_DATABASE_URL, and the way to be rid of it. */
export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Null when no outside server was given: then the service brings its own. */
export async function freshDatabase(): Promise<FreshDatabase | null> {
  const server = process.env['TEST_DATABASE_URL'];
  if (!server) return null;
  const name = `gatehouse_e2e_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
