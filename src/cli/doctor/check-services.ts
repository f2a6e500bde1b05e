import { randomUUID } from 'node:crypto';
import type { Settings } from '../../common/settings/settings.js';
import type { S3Settings } from '../../common/settings/sink-settings.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { operatorEgress } from '../../egress/operator-egress.js';
import { answers } from '../../egress/store-checks.js';
import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import { Mailer } from '../../jobs/mails/mailer.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';

export interface ServiceCheck {
  readonly name: string;
  readonly run: () => Promise<DoctorFinding[]>;
}

/** The operator's configured services besides the database, Redis and ClickHouse. `headers`: those of the collectors, by signal. */
export function checkServices(settings: Settings, headers: CollectorHeaders): ServiceCheck[] {
  const { s3, mail, sinks, telemetry } = settings;
  const checks: ServiceCheck[] = [];
  const add = (name: string, todo: string, look: () => Promise<DoctorFinding>): void => {
    const run = (): Promise<DoctorFinding[]> =>
      look().then(
        (finding) => [finding],
        (error: unknown) => [failed(name, errorText(error), todo)],
      );
    checks.push({ name, run });
  };
  if (s3)
    add('Object storage', 'Check the GATEHOUSE_S3_ settings and the rights of the access key.', () =>
      probeBucket(s3, settings),
    );
  if (mail)
    add('Mail server', 'Check GATEHOUSE_SMTP_URL: host, port, user and password.', async () =>
      judgeMailServer(await new Mailer(mail, { connectMs: PROBING_MS, commandMs: PROBING_MS }).verify()),
    );
  const { webhook } = sinks;
  if (webhook)
    add('Webhook', 'Check GATEHOUSE_SINK_WEBHOOK_URL and that its service runs.', async () => {
      await answers(webhook.url, settings, PROBING_MS);
      return ok('Webhook', `${webhook.url.host} responds`);
    });
  const collectors = [
    ['Trace collector', telemetry.traces, headers.traces],
    ['Metric collector', telemetry.metrics?.url, headers.metrics],
    ['Log collector', telemetry.logs?.url, headers.logs],
  ] as const;
  for (const [name, url, sent] of collectors)
    if (url)
      add(name, 'Check the OTEL_EXPORTER_OTLP_ settings and that the collector runs.', () =>
        probeCollector(name, url, sent, settings),
      );
  return checks;
}

/** Writes, reads and deletes an object with a unique name. */
async function probeBucket(s3: S3Settings, settings: Settings): Promise<DoctorFinding> {
  const store = new ObjectStore(s3, settings, { idleMs: PROBING_MS, readMs: PROBING_MS });
  const key = `gatehouse-doctor-${randomUUID()}`;
  const body = Buffer.from(key);
  const range = { offset: 0, length: body.length };
  const signal = AbortSignal.timeout(PROBING_MS);
  try {
    await named('write', store.put(key, body, { type: 'text/plain' }, signal));
    try {
      const read = await named('read', store.read(key, range));
      if (read?.equals(body) !== true) throw new Error('an object that was written cannot be read');
    } finally {
      await named('delete', store.remove(key, signal));
    }
  } finally {
    await store.close();
  }
  return ok('Object storage', `bucket ${s3.bucket}: written, read and deleted`);
}

const named = <T>(operation: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new Error(`cannot ${operation}: ${errorText(cause)}`, { cause });
  });

export function judgeMailServer({
  isEncrypted,
  isAuthenticated,
}: {
  readonly isEncrypted: boolean;
  readonly isAuthenticated: boolean;
}): DoctorFinding {
  const detail = `${isEncrypted ? 'TLS' : 'no TLS'}, ${isAuthenticated ? 'signed in' : 'no user'}`;
  if (isAuthenticated && !isEncrypted)
    return warning(
      'Mail server',
      detail,
      'The password travels unencrypted: use smtps://, or a server that offers STARTTLS.',
    );
  return ok('Mail server', detail);
}

export interface CollectorHeaders {
  readonly traces: readonly string[];
  readonly metrics: readonly string[];
  readonly logs: readonly string[];
}

/**
 * Headers as OpenTelemetry's packages read them, signal-specific ones first; names and values in turn.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
 */
export function collectorHeaders(environment: NodeJS.ProcessEnv): CollectorHeaders {
  const of = (signal: string): string[] => {
    const common = pairsIn(environment['OTEL_EXPORTER_OTLP_HEADERS']);
    const own = pairsIn(environment[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`]);
    return Object.entries({ ...common, ...own }).flat();
  };
  return { traces: of('TRACES'), metrics: of('METRICS'), logs: of('LOGS') };
}

function pairsIn(text = ''): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split(/=(.*)/s).map((part) => part.trim()));
  return Object.fromEntries(
    pairs
      .filter(([name, value]) => name && value !== undefined)
      .map(([name = '', value = '']) => [name.toLowerCase(), decodeURIComponent(value)]),
  );
}

/** Sends an empty request, which collectors accept: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
async function probeCollector(
  name: string,
  url: URL,
  headers: readonly string[],
  settings: Settings,
): Promise<DoctorFinding> {
  const egress = operatorEgress(settings, url, 1);
  try {
    const { status } = await new HttpCaller(egress).call('doctor', {
      method: 'POST',
      url: url.href,
      headers: ['content-type', 'application/x-protobuf', ...headers],
      body: '',
      timeoutMs: PROBING_MS,
    });
    return judgeCollector(name, url, status);
  } finally {
    await egress.close();
  }
}

export function judgeCollector(name: string, url: URL, status: number): DoctorFinding {
  const detail = `${url.host} returned status ${status}`;
  if (status < 300) return ok(name, `${url.host} accepts data`);
  if (status === 401 || status === 403)
    return failed(name, detail, 'Check the token in OTEL_EXPORTER_OTLP_HEADERS.');
  if (status === 404)
    return failed(name, detail, `The path ${url.pathname} is wrong: check the OTEL_EXPORTER_OTLP_ settings.`);
  return failed(name, detail, 'See the log of the collector.');
}
