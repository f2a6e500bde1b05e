import { randomUUID } from 'node:crypto';
import type { ExportResult } from '@opentelemetry/core';
import { EgressAgent } from '../egress/egress-agent.js';
import type { Egress } from '../egress/egress.js';

const SERVICE = 'gatehouse';
const CONNECTIONS = 2;
/** Identifies this process among those that send the same metrics. */
const instanceId = randomUUID();

/**
 * The resource of the sender: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override the default name.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export async function telemetryResource() {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');
  const own = resourceFromAttributes({ 'service.name': SERVICE, 'service.instance.id': instanceId });
  return {
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    instrumentationScope: { name: SERVICE },
  };
}

/** Connects an exporter to its collector through the egress. */
export function throughEgress(egress: Egress) {
  const agents = new Map<string, EgressAgent>();
  return {
    agentFor: (protocol: string): EgressAgent => {
      const agent = agents.get(protocol) ?? new EgressAgent(egress, protocol === 'https:', CONNECTIONS);
      agents.set(protocol, agent);
      return agent;
    },
    close: async (): Promise<void> => {
      for (const agent of agents.values()) agent.destroy();
      await egress.close();
    },
  };
}

interface Exporter<T> {
  export(items: T, done: (result: ExportResult) => void): void;
}

/** Resolves when the collector has accepted it. */
export async function exportItems<T>(exporter: Exporter<T>, items: T): Promise<void> {
  // Loaded by now, because the exporter is from the same package.
  const { ExportResultCode } = await import('@opentelemetry/core');
  await new Promise<void>((resolve, reject) => {
    exporter.export(items, ({ code, error }) => {
      if (code === ExportResultCode.SUCCESS) resolve();
      else reject(reasonIn(error));
    });
  });
}

/** The collector refused it: sending the same again would fail again. */
export class ExportRefused extends Error {
  override readonly name = 'ExportRefused';
}

const FIRST_SERVER_ERROR = 500;
/** Too many requests. */
const SLOW_DOWN = 429;

/** Contains the status but not the collector's message. */
function reasonIn(error: Error | undefined): Error {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== 'number') return error ?? new Error('it failed');
  const reason = `it returned status ${code}`;
  return code < FIRST_SERVER_ERROR && code !== SLOW_DOWN ? new ExportRefused(reason) : new Error(reason);
}
