import { readFileSync } from 'node:fs';

/**
 * Parameters of a store's URL that name the files of its TLS connection. They are PostgreSQL's, for Redis and ClickHouse too:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-SSLROOTCERT
 */
const PARAMETERS = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' } as const;

type TlsPart = keyof typeof PARAMETERS;

/**
 * What the files hold, under the names of Node's TLS options. A property reads its file at each use, so that a connection opened after a
 * rotation uses the new certificate. A file that can no longer be read leaves its last content in force.
 */
export type StoreTls = Readonly<Partial<Record<TlsPart, Buffer>>>;

const partsOf = (url: URL): (readonly [TlsPart, string])[] =>
  (Object.keys(PARAMETERS) as TlsPart[]).flatMap((part) => {
    const path = url.searchParams.get(PARAMETERS[part]);
    return path ? [[part, path] as const] : [];
  });

/** The files in a store's URL; no properties without any. Throws if a file cannot be read now. */
export function storeTlsOf(url: URL): StoreTls {
  const properties = partsOf(url).map(([part, path]) => {
    let content = readFileSync(path);
    const get = (): Buffer => {
      try {
        content = readFileSync(path);
      } catch {
        // A file that is being replaced is missing for a moment.
      }
      return content;
    };
    return [part, { enumerable: true, get }] as const;
  });
  return Object.defineProperties({}, Object.fromEntries(properties));
}

/** For ioredis, which copies the properties at each connection; nothing for a URL without files. */
export function redisTlsOf(url: string): { readonly tls?: StoreTls } {
  const tls = storeTlsOf(new URL(url));
  return Object.keys(tls).length === 0 ? {} : { tls };
}

/** The same URL, for clients that refuse unknown parameters. */
export function withoutTlsFiles(url: URL): URL {
  const bare = new URL(url);
  for (const name of Object.values(PARAMETERS)) bare.searchParams.delete(name);
  return bare;
}

/** What is wrong with the files in the URL of a setting, whose encrypted scheme is `scheme`. */
export function badStoreTls(setting: string, text: string | undefined, scheme: string): string[] {
  if (text === undefined || !URL.canParse(text)) return [];
  const url = new URL(text);
  const parts = partsOf(url);
  if (parts.length === 0) return [];
  if (url.protocol !== scheme)
    return [`${setting}: sslrootcert, sslcert and sslkey need an address with ${scheme}//.`];
  const files = new Map(parts);
  if (files.has('cert') !== files.has('key')) return [`${setting}: sslcert and sslkey need each other.`];
  return parts.flatMap(([part, path]) => {
    try {
      readFileSync(path);
      return [];
    } catch {
      return [`${setting}: the file ${path} of ${PARAMETERS[part]} cannot be read.`];
    }
  });
}
