import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Settings } from '../common/settings/settings.js';
import type { Probes } from '../common/supervision/probes.js';
import { createTlsServer } from './tls/tls-server.js';

type ProbeSettings = Pick<Settings, 'host' | 'port' | 'probesPort' | 'tls'>;

/** The servers of an instance that only runs jobs: on its port, with TLS if that is set, and on the port for probes. */
export async function serveOnlyProbes(probes: Probes, settings: ProbeSettings): Promise<readonly Server[]> {
  const { host, port, tls } = settings;
  const serve = listenerOf(probes);
  const main = tls ? createTlsServer(tls, {}, serve).server : createServer(serve);
  return [await listening(main, port, host), ...(await serveProbesPort(probes, settings))];
}

/** The server on the port for probes, which never speaks TLS; none without that port. */
export async function serveProbesPort(
  probes: Probes,
  { host, probesPort }: Pick<ProbeSettings, 'host' | 'probesPort'>,
): Promise<readonly Server[]> {
  return probesPort === null ? [] : [await listening(createServer(listenerOf(probes)), probesPort, host)];
}

const listenerOf =
  (probes: Probes): RequestListener =>
  (request, response) => {
    if (!probes.answer(request, response)) response.writeHead(404).end();
  };

async function listening(server: Server, port: number, host: string): Promise<Server> {
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
