import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getTls } from 'node:https';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { localUrl } from '../../common/settings/base-url.js';
import type { Settings } from '../../common/settings/settings.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';

const READINESS = z.object({
  status: z.string(),
  checks: z.array(z.object({ name: z.string(), status: z.string(), detail: z.string().optional() })),
});
type Readiness = z.infer<typeof READINESS>;

/** What the running instance reports at `/readyz?verbose`. */
export async function checkRunning(settings: Settings, port: number): Promise<DoctorFinding[]> {
  const { probesPort, tls } = settings;
  const address =
    probesPort === null ? localUrl(settings, port) : localUrl({ ...settings, tls: null }, probesPort);
  if (probesPort === null && tls?.clientCertificates?.areRequired)
    return [warning('Service', `${address} requires a client certificate`, 'Set GATEHOUSE_PROBES_PORT.')];
  try {
    return [judgeReadiness(address, READINESS.parse(await json(await get(`${address}/readyz?verbose`))))];
  } catch (error) {
    const reason = errorText(error);
    return [
      failed('Service', `${address}: ${reason}`, 'Wait until the instance has started, or read its log.'),
    ];
  }
}

/** The certificate names the public host, not the address of this machine, and the request has no secret: it is not verified. */
function get(url: string): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? getTls : getPlain;
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(PROBING_MS) };
    send(url, options, resolve).on('error', reject);
  });
}

export function judgeReadiness(address: string, { status, checks }: Readiness): DoctorFinding {
  const others = checks.filter((check) => check.status === 'failed' || check.status === 'degraded');
  const detail = [
    `${address} is ${status}`,
    ...others.map((check) => `${check.name}: ${check.detail ?? check.status}`),
  ].join('; ');
  if (others.length === 0 && status === 'ready') return ok('Service', detail);
  const todo = 'See the log of the instance, and the other rows.';
  return status === 'not ready' ? failed('Service', detail, todo) : warning('Service', detail, todo);
}
