import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Secret } from '../settings/secret.js';
import { stalledLoopsOfInstance } from './loop-reports.js';
import type { StalledLoop } from '../processes/ipc.js';
import { VERSION } from '../version.js';
import { createLogger } from '../observability/logger.js';
import { METRICS_CONTENT_TYPE, metricsText } from '../observability/metrics.js';

/** One readiness check. `isVital`: without it the instance should receive no requests; such a check is cheap and never cached. */
export interface ReadinessCheck {
  readonly name: string;
  readonly isVital: boolean;
  /** How long a result is cached, milliseconds. Default: one second; vital checks are not cached. */
  readonly freshMs?: number;
  /** Resolves on success; rejects or times out otherwise. */
  run(): Promise<void> | void;
}

/** Why a check failed, in a sentence that `/readyz?verbose` may show to anyone. Messages of other errors are not shown. */
export class CheckFailure extends Error {}

interface ProbeResult {
  readonly name: string;
  readonly status: 'ok' | 'degraded' | 'failed';
  readonly ms?: number;
  /** What is wrong and since when, if the check reports it. */
  readonly detail?: string;
}

/** Describes the service, and links to its other endpoints. */
const ABOUT = {
  name: 'gatehouse',
  version: VERSION,
  dashboard: '/ui/',
  documentation: '/docs',
  openapi: '/openapi.json',
  health: '/health',
} as const;

const CHECK_TIMEOUT_MS = 500;
const CACHED_MS = 1_000;
const logger = createLogger('probes');

/**
 * The paths for operators and load balancers: `/livez`, `/readyz` or `/health` (with `?verbose`), `/metrics`, `/version` and, for clients
 * other than browsers, `/`. They need no key and no database, and never call a provider.
 */
/** Browsers are redirected to the dashboard. */
const isBrowser = ({ headers: { accept = '' } }: IncomingMessage): boolean => accept.includes('text/html');

export class Probes {
  private readonly remembered = new Map<
    ReadinessCheck,
    { readonly at: number; readonly result: Promise<ProbeResult> }
  >();

  constructor(
    private readonly checks: readonly ReadinessCheck[],
    private readonly metricsToken: Secret | undefined,
    /** Names of loops without which this process is not ready. */
    private readonly vitalLoops: readonly string[] = [],
  ) {}

  /** Responds and returns true when the path is one of the probes'. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const [path, query = ''] = (request.url ?? '').split('?', 2) as [string, string?];
    switch (path) {
      case '/':
        if (isBrowser(request)) return false;
        send(response, 200, ABOUT);
        return true;
      case '/version':
        send(response, 200, { name: ABOUT.name, version: ABOUT.version });
        return true;
      case '/livez':
        send(response, 200, { status: 'live' });
        return true;
      case '/health':
      case '/readyz':
        void this.ready(response, new URLSearchParams(query).has('verbose'));
        return true;
      case '/metrics':
        void this.metrics(request, response);
        return true;
      default:
        return false;
    }
  }

  private async ready(response: ServerResponse, isVerbose: boolean): Promise<void> {
    const checked = await Promise.all(
      this.checks.map((check) => (check.isVital ? runCheck(check) : this.recent(check))),
    );
    const results = [...checked, ...stalledLoopsOfInstance().map((stalled) => this.resultOf(stalled))];
    const isReady = results.every(({ status }) => status !== 'failed');
    const status = isReady
      ? results.some((result) => result.status === 'degraded')
        ? 'degraded'
        : 'ready'
      : 'not ready';
    send(response, isReady ? 200 : 503, isVerbose ? { status, checks: results } : { status });
  }

  private resultOf({ loop, process: place, seconds }: StalledLoop): ProbeResult {
    return {
      name: place === undefined ? `loop ${loop}` : `loop ${loop} (${place})`,
      status: this.vitalLoops.includes(loop) ? 'failed' : 'degraded',
      detail: `It has not succeeded for ${seconds} s.`,
    };
  }

  /** Checks that cost a round trip run once a second, however often balancers call. */
  private recent(check: ReadinessCheck): Promise<ProbeResult> {
    const known = this.remembered.get(check);
    if (known && performance.now() - known.at < (check.freshMs ?? CACHED_MS)) return known.result;
    const result = runCheck(check);
    this.remembered.set(check, { at: performance.now(), result });
    return result;
  }

  private async metrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.mayReadMetrics(request)) {
      send(response, 401, {
        status: 'metrics are for this machine, or for clients with GATEHOUSE_METRICS_TOKEN',
      });
      return;
    }
    try {
      const text = await metricsText();
      response
        .writeHead(200, { 'content-type': METRICS_CONTENT_TYPE, 'cache-control': 'no-store' })
        .end(text);
    } catch (error) {
      logger.error({ err: error }, 'The metrics cannot be collected.');
      send(response, 500, { status: 'the metrics cannot be collected; the log says why' });
    }
  }

  /** Without a token, access is limited to this machine, and not through a proxy on it. */
  private mayReadMetrics({ headers, socket }: IncomingMessage): boolean {
    if (this.metricsToken) return isToken(headers.authorization, this.metricsToken);
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    return !isForwarded && /^(::1|(::ffff:)?127\.)/.test(socket.remoteAddress ?? '');
  }
}

async function runCheck(check: ReadinessCheck): Promise<ProbeResult> {
  const startedAt = performance.now();
  const tooLate = new Promise<never>((_, reject) => {
    setTimeout(reject, CHECK_TIMEOUT_MS, new Error('timeout')).unref();
  });
  const work = Promise.resolve().then(() => check.run());
  const failure = await Promise.race([work, tooLate]).then(
    () => null,
    (error: unknown) => ({ detail: error instanceof CheckFailure ? error.message : undefined }),
  );
  const status = failure === null ? 'ok' : check.isVital ? 'failed' : 'degraded';
  const ms = Math.round(performance.now() - startedAt);
  return {
    name: check.name,
    status,
    ms,
    ...(failure?.detail === undefined ? {} : { detail: failure.detail }),
  };
}

function isToken(authorization: string | undefined, token: Secret): boolean {
  const given = Buffer.from(authorization ?? '');
  const expected = Buffer.from(`Bearer ${token.reveal()}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(`${JSON.stringify(body)}\n`);
}
