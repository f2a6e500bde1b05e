import { Agent, type AgentOptions } from 'node:https';
import type { ClickHouseClientConfigOptions } from '@clickhouse/client';
import { type StoreTls, storeTlsOf, withoutTlsFiles } from '../../../common/net/store-tls.js';
import type { ClickHouseSettings } from '../../../common/settings/settings.js';

/** The address of ClickHouse, and its TLS connections if the URL names files for them. */
export function connectionOptions(
  { url: secret }: Pick<ClickHouseSettings, 'url'>,
  connections: number,
): ClickHouseClientConfigOptions {
  const address = new URL(secret.reveal());
  const tls = storeTlsOf(address);
  const url = withoutTlsFiles(address);
  if (Object.keys(tls).length === 0) return { url, max_open_connections: connections };
  return {
    http_agent: new StoreAgent(tls, { keepAlive: true, maxSockets: connections }),
    ...(tls.cert && url.password === '' ? byCertificate(url) : { url }),
  };
}

/**
 * The certificate identifies the user of the URL, who has no password:
 * https://clickhouse.com/docs/guides/sre/ssl-user-auth#4-testing-http
 */
function byCertificate(address: URL): ClickHouseClientConfigOptions {
  const url = new URL(address);
  url.username = '';
  return {
    url,
    set_basic_auth_header: false,
    http_headers: {
      'X-ClickHouse-User': decodeURIComponent(address.username) || 'default',
      'X-ClickHouse-SSL-Certificate-Auth': 'on',
    },
  };
}

/** The package would read the files once. */
class StoreAgent extends Agent {
  constructor(
    private readonly tls: StoreTls,
    options: AgentOptions,
  ) {
    // A resumed session would be that of the former certificate.
    super({ ...options, maxCachedSessions: 0 });
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
    return super.createConnection({ ...options, ...this.tls }, callback);
  }
}
