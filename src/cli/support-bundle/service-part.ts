import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { baseUrl } from '../../common/settings/base-url.js';
import type { Settings } from '../../common/settings/settings.js';
import { listSegments, listWriters, pendingBytesIn } from '../../request-log/spool/spool-files.js';

/** What the running instance reports, as text of its endpoints. */
export interface ServicePart {
  readonly readiness: string;
  readonly metrics: string;
}

export async function servicePart(settings: Settings, port: number): Promise<ServicePart> {
  const address = baseUrl({ ...settings, publicUrl: undefined }, port);
  const token = settings.metricsToken;
  const textOf = async (path: string): Promise<string> => {
    const headers = new Headers(token ? { authorization: `Bearer ${token.reveal()}` } : {});
    const response = await fetch(`${address}${path}`, { headers, signal: AbortSignal.timeout(PROBING_MS) });
    return response.text();
  };
  return { readiness: await textOf('/readyz?verbose'), metrics: await textOf('/metrics') };
}

/** Records that wait on the disk of this machine. */
export function spoolPart({ dataDir }: Settings): object {
  const spool = join(dataDir, 'spool');
  const writers = unlessMissing(() => listWriters(spool), []);
  return {
    pending_bytes: pendingBytesIn(spool),
    writers: writers.map((writer) => ({
      segments: listSegments(join(spool, writer)).length,
      oldest_segment_s: oldestOf(join(spool, writer)),
    })),
  };
}

function oldestOf(folder: string): number | null {
  const ages = readdirSync(folder)
    .filter((name) => name.endsWith('.seg'))
    .map(
      (name) => Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now()),
    );
  return ages.length === 0 ? null : Math.round(Math.max(...ages) / 1000);
}

function unlessMissing<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
