import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { buildIfNeeded } from './built-service.js';
import { portRange } from './ports.js';
import { type OwnService, type ServiceFacts, startService } from './service.js';

declare module 'vitest' {
  export interface ProvidedContext {
    service: ServiceFacts | null;
  }
}

const UPSTREAM_PORTS = 48;

/**
 * Settings of the service that most end-to-end files share. Two gateway processes, so that what holds
 * in one process only is found out; short timeouts, so that cases about timeouts are quick.
 */
const SHARED = {
  GATEHOUSE_PROCESSES: '2',
  GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '3000',
  GATEHOUSE_IDLE_TIMEOUT_MS: '3000',
  GATEHOUSE_DRAIN_DELAY_MS: '100',
};

/** Projects whose files start their own services. */
const STARTS_ITS_OWN: ReadonlySet<string> = new Set(['crash', 'deployment', 'several-machines', 'upgrades']);

/** Builds once, and starts the shared service for the end-to-end files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildIfNeeded();
  const service: OwnService | null = !STARTS_ITS_OWN.has(project.name)
    ? await startService({ env: SHARED, egressPorts: await portRange(UPSTREAM_PORTS) })
    : null;
  project.provide('service', service?.facts ?? null);
  return async () => {
    await service?.dispose();
  };
}
