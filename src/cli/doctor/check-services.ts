import type { Socket } from 'node:net';
import type { Secret } from '../../common/settings/secret.js';
import { operatorEgress } from '../../egress/operator-egress.js';
import { answers } from '../../egress/store-checks.js';
import { OTLP_TIMEOUTS, SMTP_TIMEOUTS } from '../../common/net/store-timeouts.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import { answeredWithin } from '../../common/processes/answered-within.js';
import type { Settings } from '../../common/settings/settings.js';
import { failed, type Finding, ok, reasonOf } from './finding.js';

interface ServiceCheck {
  readonly name: string;
  readonly run: () => Promise<Finding[]>;
}

const SMTP_PORT = { 'smtp:': 587, 'smtps:': 465 } as const;

/** The services of the operator that are set, besides the database, Redis and ClickHouse. */
export function checkServices(settings: Settings): ServiceCheck[] {
  const { s3, mail, sinks } = settings;
  const checks: ServiceCheck[] = [];
  const add = (name: string, todo: string, look: () => Promise<string>): void => {
    const run = (): Promise<Finding[]> =>
      look().then(
        (detail) => [ok(name, detail)],
        (error: unknown) => [failed(name, reasonOf(error), todo)],
      );
    checks.push({ name, run });
  };
  if (s3)
    add('Object storage', 'Check GATEHOUSE_S3_ENDPOINT, the bucket and its credentials.', async () => {
      const store = new ObjectStore(s3, settings);
      try {
        // An object that is absent is answered only to those who may read the bucket.
        await store.read('gatehouse-doctor', { offset: 0, length: 1 });
      } finally {
        await store.close();
      }
      return `bucket ${s3.bucket} can be read`;
    });
  if (mail)
    add('Mail server', 'Check GATEHOUSE_SMTP_URL and that the server runs.', () =>
      greetingOf(mail.smtpUrl, settings),
    );
  const collectors = { 'Trace collector': sinks.traces, 'Metric collector': sinks.metrics?.url };
  for (const [name, url] of Object.entries(collectors))
    if (url)
      add(name, 'Check the OTEL_EXPORTER_OTLP_ settings and that the collector runs.', async () => {
        await answers(url, settings, OTLP_TIMEOUTS.commandMs);
        return `${url.host} answers`;
      });
  return checks;
}

/** A server speaks first, and says 220 when it takes mail: https://datatracker.ietf.org/doc/html/rfc5321#section-3.1 */
async function greetingOf(url: Secret, settings: Settings): Promise<string> {
  const { protocol, hostname, port, host } = new URL(url.reveal());
  const isTls = protocol === 'smtps:';
  const endpoint = {
    secure: isTls,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || SMTP_PORT[isTls ? 'smtps:' : 'smtp:'],
  };
  const egress = operatorEgress(settings, new URL(`http://${hostname}:${endpoint.port}`), 1);
  let socket: Socket | undefined;
  try {
    socket = await egress.openSocket(endpoint);
    const greeting = new Promise<string>((resolve, reject) => {
      socket?.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1'))).once('error', reject);
    });
    const late = `no greeting within ${SMTP_TIMEOUTS.connectMs / 1_000} s`;
    const said = await answeredWithin(greeting, SMTP_TIMEOUTS.connectMs, late);
    if (!said.startsWith('220')) throw new Error(`the server refuses mail: ${said.slice(0, 3)}`);
    return `${host} takes mail`;
  } finally {
    socket?.destroy();
    await egress.close();
  }
}
