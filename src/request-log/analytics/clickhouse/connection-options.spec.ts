import { copyFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pemOf, TestAuthority } from '../../../../test/support/certificates.js';
import { Secret } from '../../../common/settings/secret.js';
import { connectionOptions } from './connection-options.js';

/** A server that serves only clients with a certificate of its authority, and notes them. */
let authority: TestAuthority;
let server: Server;
const seen: { client: string | undefined; headers: IncomingHttpHeaders; path: string }[] = [];
beforeAll(async () => {
  authority = new TestAuthority();
  server = createServer(
    { ...pemOf(authority.issue('server')), ca: authority.pem, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      const client = (request.socket as TLSSocket).getPeerX509Certificate()?.subject;
      seen.push({ client, headers: request.headers, path: request.url ?? '' });
      response.setHeader('connection', 'close');
      request.resume().on('end', () => response.end('{"version":"26.7"}\n'));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  authority.remove();
});

async function ask(user: string, files: Readonly<Record<string, string>>): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const url = `https://${user}127.0.0.1:${port}/logs?${String(new URLSearchParams(files))}`;
  const client = createClient({ ...connectionOptions({ url: new Secret(url) }, 1), log: { level: 127 } });
  try {
    return await (await client.query({ query: 'SELECT version()', format: 'JSONEachRow' })).json();
  } finally {
    await client.close();
  }
}

describe('ClickHouse behind TLS with client certificates', () => {
  it('gets the certificate that the URL names, and the password', async () => {
    const { cert, key } = authority.issue('client');
    const files = { sslrootcert: authority.cert, sslcert: cert, sslkey: key };

    expect(await ask('writer:hush@', files)).toEqual([{ version: '26.7' }]);
    const { client, headers, path } = seen.at(-1) ?? {};
    expect(client).toBe('CN=client');
    expect(headers?.authorization).toBe(`Basic ${Buffer.from('writer:hush').toString('base64')}`);
    expect(headers).not.toHaveProperty('x-clickhouse-ssl-certificate-auth');
    expect(path).toContain('database=logs');
    expect(path).not.toContain('ssl');
  });

  it('identifies a user without a password by the certificate', async () => {
    const { cert, key } = authority.issue('client');
    await ask('writer@', { sslrootcert: authority.cert, sslcert: cert, sslkey: key });

    expect(seen.at(-1)?.headers).toMatchObject({
      'x-clickhouse-user': 'writer',
      'x-clickhouse-ssl-certificate-auth': 'on',
    });
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it('is not reached without a certificate, or without its authority', async () => {
    const { cert, key } = authority.issue('client');

    await expect(ask('', { sslrootcert: authority.cert })).rejects.toThrow();
    await expect(ask('', { sslcert: cert, sslkey: key })).rejects.toThrow(
      /self-signed|unable to (get|verify)/,
    );
  });

  it('gets a certificate that was replaced since the start', async () => {
    const [first, second] = [authority.issue('before'), authority.issue('after')];
    const files = { cert: join(authority.folder, 'used.pem'), key: join(authority.folder, 'used.key') };
    const copy = (from: typeof first): void => {
      copyFileSync(from.cert, files.cert);
      copyFileSync(from.key, files.key);
    };
    copy(first);
    const { port } = server.address() as AddressInfo;
    const parameters = { sslrootcert: authority.cert, sslcert: files.cert, sslkey: files.key };
    const url = `https://127.0.0.1:${port}/?${String(new URLSearchParams(parameters))}`;
    const client = createClient({ ...connectionOptions({ url: new Secret(url) }, 1) });
    const version = async () => (await client.query({ query: 'SELECT 1', format: 'JSONEachRow' })).json();
    await version();
    copy(second);
    await version();
    await client.close();

    expect(seen.slice(-2).map(({ client: subject }) => subject)).toEqual(['CN=before', 'CN=after']);
  });
});
