import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Administration } from '../support/administration.js';
import { portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { EchoUpstream } from '../support/upstreams/echo.js';
import { eventually } from '../support/waiting.js';
import { OwnPrometheus } from './prometheus.js';

/** Every query of a dashboard and of an alert, by a Prometheus that scrapes the built service under a small load. */
const DEPLOY = join(import.meta.dirname, '../../deploy');
const RULES = join(DEPLOY, 'prometheus/gatehouse-alerts.yml');
/** Requests of each kind in a round. */
const ROUNDS = 5;

interface Rule {
  readonly alert?: string;
  readonly expr: string;
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** What Grafana puts into a query. The window holds several scrapes. */
const filledIn = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '30s').replaceAll('$__range', '5m').replaceAll('$instance', '.+');

const panels = readdirSync(join(DEPLOY, 'grafana')).flatMap((file) => {
  const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana', file), 'utf8')) as Dashboard;
  return dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => [`${file}: ${title}: ${expr}`, filledIn(expr)] as const),
  );
});

/** An alert is empty while all is well. With `bool` its comparisons give 0 or 1, and are empty only without their metrics. */
const comparing = (expr: string): string => expr.replaceAll(/ (>|<|==) /g, ' $1 bool ');

const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
const alerts = groups
  .flatMap(({ rules }) => rules)
  .flatMap(({ alert, expr }) => (alert === undefined ? [] : [[alert, comparing(expr)] as const]));

let service: OwnService;
let upstream: EchoUpstream;
let prometheus: OwnPrometheus | null = null;
let load: NodeJS.Timeout;

beforeAll(async () => {
  const ports = await portRange(4);
  upstream = await EchoUpstream.start(ports);
  upstream.on('/v1/chat/completions', {
    headers: [['content-type', 'application/json']],
    body: JSON.stringify({
      id: 'c-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  });
  upstream.otherwise({ body: '{}' });
  service = await startService({
    egressPorts: ports,
    env: {
      GATEHOUSE_PROCESSES: '2',
      GATEHOUSE_SINK_WEBHOOK_URL: `${upstream.url}/sink`,
      GATEHOUSE_SINK_WEBHOOK_SECRET: 'sixteen characters or more',
    },
  });
  const administration = new Administration(service);
  await administration.ask('POST', '/v1/audit-logs/destinations', {
    name: 'SIEM',
    url: `udp://${new URL(upstream.url).host}`,
  });
  const virtualKey = await administration.createVirtualKey({
    name: 'load',
    secret: 'sk-provider',
    customHost: `${upstream.url}/v1`,
  });
  const ask = (body: object, headers: Record<string, string>, key = service.bootstrap.workspace_api_key) =>
    service.client.call({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-api-key': key, ...headers },
      body: { messages: [{ role: 'user', content: 'Hello' }], ...body },
    });
  const sandbox = { 'x-gateway-provider': 'sandbox' };
  const round = () =>
    Promise.all([
      ask({ model: 'sandbox-1' }, sandbox),
      ask({ model: 'sandbox-1', stream: true }, sandbox),
      ask({ model: 'sandbox-error-500' }, sandbox),
      ask({ model: 'sandbox-1' }, sandbox, 'gw_ws_wrong'),
      ask(
        { model: 'gpt-4o-mini' },
        { 'x-gateway-config': JSON.stringify({ virtual_key: virtualKey, cache: { mode: 'simple' } }) },
      ),
    ]);
  prometheus = await OwnPrometheus.start(new URL(service.baseUrl).host, RULES);
  for (let i = 0; i < ROUNDS; i++) await round();
  load = setInterval(() => void round().catch(() => undefined), 500);
});
afterAll(async () => {
  clearInterval(load);
  await prometheus?.stop();
  await service?.dispose();
  await upstream?.stop();
});

/** The names of the expressions that have no number, as soon as there are none, or in the end. */
async function emptyOf(expressions: readonly (readonly [string, string])[]): Promise<readonly string[]> {
  let empty: string[] = [];
  const ask = async () => {
    empty = [];
    for (const [name, expression] of expressions)
      // NaN is what a division by nothing and a quantile of nothing give.
      if (!(await prometheus?.query(expression))?.some(({ value: [, value] }) => value !== 'NaN'))
        empty.push(name);
    return empty.length === 0;
  };
  await eventually(ask, { what: 'series', everyMs: 1_000 }).catch(() => undefined);
  return empty;
}

describe('Prometheus with the files of deploy/', () => {
  it('has series for every panel of every dashboard', async ({ skip }) => {
    skip(prometheus === null, 'no Prometheus');
    expect(panels.length).toBeGreaterThan(60);
    expect(await emptyOf(panels)).toEqual([]);
  });

  it('has series for every comparison of every alert', async ({ skip }) => {
    skip(prometheus === null, 'no Prometheus');
    expect(alerts.length).toBeGreaterThan(20);
    expect(await emptyOf(alerts)).toEqual([]);
  });

  it('records shares between 0 and 1 of failed requests', async ({ skip }) => {
    skip(prometheus === null, 'no Prometheus');
    const [share] = (await prometheus?.query('gatehouse:failed_requests:ratio_rate5m')) ?? [];
    expect(Number(share?.value[1])).toBeGreaterThan(0);
    expect(Number(share?.value[1])).toBeLessThan(1);
  });
});
