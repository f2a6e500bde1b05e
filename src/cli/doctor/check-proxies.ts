import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { connectOnce } from '../../egress/connect-once.js';
import type { Settings } from '../../common/settings/settings.js';
import { failed, type DoctorFinding, ok, errorText } from './finding.js';

const HTTPS_PORT = 443;
const HTTP_PORT = 80;
/** https://nodejs.org/api/dns.html#error-codes */
const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA']);

/** The outbound proxies of the settings: their names resolve, and they accept connections. No finding without a proxy. */
export async function checkProxies({ proxies: { https, http } }: Settings): Promise<DoctorFinding[]> {
  const addresses = [...new Set([https, http].flatMap((secret) => (secret ? [secret.reveal()] : [])))];
  return Promise.all(addresses.map((address) => checkProxy(new URL(address))));
}

async function checkProxy({ hostname, port, protocol }: URL): Promise<DoctorFinding> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const at = Number(port) || (protocol === 'https:' ? HTTPS_PORT : HTTP_PORT);
  const startedAt = performance.now();
  try {
    await connectOnce({ host, port: at }, PROBING_MS);
    return ok(
      'Outbound proxy',
      `${host}:${at}, connected in ${Math.round(performance.now() - startedAt)} ms`,
    );
  } catch (error) {
    return NO_ADDRESS.has((error as NodeJS.ErrnoException).code ?? '')
      ? failed(
          'DNS',
          `${host}: ${errorText(error)}`,
          'Correct the name in HTTPS_PROXY or HTTP_PROXY, or the resolver.',
        )
      : failed(
          'Outbound proxy',
          `${host}:${at}: ${errorText(error)}`,
          'Check HTTPS_PROXY and HTTP_PROXY, and that the proxy runs (docs/outbound-proxy.md).',
        );
  }
}
