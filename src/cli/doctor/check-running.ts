import { z } from 'zod';
import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { baseUrl } from '../../common/settings/base-url.js';
import type { Settings } from '../../common/settings/settings.js';
import { failed, type DoctorFinding, ok, reasonOf, warning } from './finding.js';

const READINESS = z.object({
  status: z.string(),
  checks: z.array(z.object({ name: z.string(), status: z.string(), detail: z.string().optional() })),
});
type Readiness = z.infer<typeof READINESS>;

/** What the running instance reports at `/readyz?verbose`. */
export async function checkRunning(settings: Settings, port: number): Promise<DoctorFinding[]> {
  const address = baseUrl({ ...settings, publicUrl: undefined }, port);
  try {
    const answer = await fetch(`${address}/readyz?verbose`, { signal: AbortSignal.timeout(PROBING_MS) });
    return [judgeReadiness(address, READINESS.parse(await answer.json()))];
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error);
    return [
      failed('Service', `${address}: ${reason}`, 'Wait until the instance has started, or read its log.'),
    ];
  }
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
