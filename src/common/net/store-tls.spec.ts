import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { badStoreTls, redisTlsOf, storeTlsOf, withoutTlsFiles } from './store-tls.js';

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-tls-'));
  path = join(folder, 'client.pem');
  writeFileSync(path, 'first');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the files of TLS in the URL of a store', () => {
  it('are read at each connection, and keep their last content while a file is missing', () => {
    const tls = storeTlsOf(new URL(`rediss://redis.lan?sslcert=${path}`));
    const copied = () => Object.assign({}, tls).cert?.toString();
    expect(copied()).toBe('first');
    writeFileSync(path, 'second');
    expect(copied()).toBe('second');
    rmSync(path);
    expect(copied()).toBe('second');
    writeFileSync(path, 'first');
  });

  it('are absent from the options of a connection without them', () => {
    expect(redisTlsOf('rediss://redis.lan/1')).toEqual({});
  });

  it('do not reach clients that refuse unknown parameters', () => {
    const url = withoutTlsFiles(new URL(`https://u:p@house.lan:8443/logs?sslrootcert=${path}&x=1`));
    expect(url.href).toBe('https://u:p@house.lan:8443/logs?x=1');
  });

  it.each([
    [
      (it: string) => `redis://redis.lan?sslrootcert=${it}`,
      ['REDIS_URL: sslrootcert, sslcert and sslkey need an address with rediss://.'],
    ],
    [(it: string) => `rediss://redis.lan?sslcert=${it}`, ['REDIS_URL: sslcert and sslkey need each other.']],
    [
      () => 'rediss://redis.lan?sslrootcert=/nowhere.pem',
      ['REDIS_URL: the file /nowhere.pem of sslrootcert cannot be read.'],
    ],
    [(it: string) => `rediss://redis.lan?sslrootcert=${it}&sslcert=${it}&sslkey=${it}`, []],
    [() => 'redis://redis.lan', []],
  ])('are refused where they cannot work', (urlOf, problems) => {
    expect(badStoreTls('REDIS_URL', urlOf(path), 'rediss:')).toEqual(problems);
  });
});
