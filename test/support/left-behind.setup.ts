import { register } from 'prom-client';
import { afterAll, vi } from 'vitest';

/**
 * Files of one project share their processes. So a file that ends with fake timers, or with loops that still run, fails: the next file would
 * meet them. Setup files are hooked first and their `afterAll` runs last.
 */
afterAll(async () => {
  const isFake = vi.isFakeTimers();
  vi.useRealTimers();
  const loops = (await runningLoops()).filter((loop) => !reported.has(loop));
  for (const loop of loops) reported.add(loop);
  if (isFake) throw new Error('This file ends with fake timers. Call vi.useRealTimers() in afterEach.');
  if (loops.length > 0)
    throw new Error(`This file ends while these loops run: ${loops.join(', ')}. Stop what it started.`);
});

/** Loops that an earlier file of this process left: it failed already. */
const reported = reportedIn(globalThis);

function reportedIn(process: typeof globalThis & { loopsLeftBehind?: Set<string> }): Set<string> {
  return (process.loopsLeftBehind ??= new Set());
}

/** As src/common/loops/loop-health.ts counts them; none in a process that never loaded it. */
async function runningLoops(): Promise<readonly string[]> {
  const ages = await register.getSingleMetric('gatehouse_loop_last_success_age_seconds')?.get();
  return ages?.values.map(({ labels }) => String(labels['loop'])) ?? [];
}
