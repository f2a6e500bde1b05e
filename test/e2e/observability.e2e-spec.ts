import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAvailable } from '../support/machine.js';
import { type OwnService, startService } from '../support/service.js';
import { jsonOf } from '../support/http-client.js';
import { eventually } from '../support/waiting.js';

const PAGE = new URL('../../docs/metrics.md', import.meta.url);
/** Of Node itself; the page links to them. */
const OF_NODE = /^gatehouse_(process_(cpu|start|resident|virtual|heap|open|max)|nodejs_)/;

describe('what an operator sees of requests', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startService({ env: { GATEHOUSE_PROCESSES: '2', GATEHOUSE_ACCESS_LOG: 'all' } });
  });
  afterAll(() => service?.dispose());

  const chat = (body: object, key = service.bootstrap.workspace_api_key) =>
    service.client.call({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-api-key': key, 'x-gateway-provider': 'sandbox' },
      body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'A secret prompt' }], ...body },
    });
  const metrics = async () => (await service.client.call({ path: '/metrics' })).body.toString();
  const accessLines = () =>
    service.output
      .split('\n')
      .filter((line) => line.includes('"component":"access"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('is a line of the access log for each request, and never a key or a prompt', async () => {
    const answer = await chat({});
    const refused = await chat({ model: 7 });
    expect([answer.status, refused.status]).toEqual([200, 400]);

    await eventually(() => accessLines().length === 2, { withinMs: 5_000, what: 'two lines' });
    expect(accessLines()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          request_id: answer.headers['x-gateway-request-id'],
          workspace_id: service.bootstrap.workspace_id,
          provider: 'sandbox',
          model: 'sandbox-1',
          endpoint: 'chat-completions',
          status: 200,
          duration_ms: expect.any(Number),
        }),
        expect.objectContaining({ status: 400, error_code: expect.any(String), msg: 'A request failed.' }),
      ]),
    );
    expect(service.output).not.toContain(service.bootstrap.workspace_api_key);
    expect(service.output).not.toContain('A secret prompt');
  });

  it('is a counter and one line for refused keys, however many there are', async () => {
    for (let i = 0; i < 20; i++) expect((await chat({}, 'gw_ws_wrong')).status).toBe(401);

    await eventually(
      async () => (await metrics()).includes('gatehouse_refused_credentials_total{reason="malformed"} 20'),
      { withinMs: 5_000, what: 'the counter' },
    );
    const lines = service.output.split('\n').filter((line) => line.includes('A credential was refused.'));
    expect(lines.length).toBeLessThanOrEqual(2);
  });

  it('has metrics that pass the check of Prometheus, with few values for each label', async ({ skip }) => {
    const isInstalled = spawnSync('promtool', ['--version']).status === 0;
    if (!isAvailable('promtool', isInstalled, 'Install prometheus.')) return skip();
    for (let i = 0; i < 30; i++) await chat({ model: `made-up-${i}` });
    const text = await metrics();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics', '--extended'], {
      input: text,
    });

    expect([status, stderr.toString()]).toEqual([0, '']);
    // Metric, cardinality, percentage: https://prometheus.io/docs/prometheus/latest/command-line/promtool/#promtool-check-metrics
    const series = [...stdout.toString().matchAll(/^(gatehouse_\w+)\s+(\d+)\s/gm)];
    expect(series.length).toBeGreaterThan(50);
    for (const [, name, count] of series) expect([name, Number(count) <= 200]).toEqual([name, true]);
    expect(text).not.toContain('made-up-');
  });

  it('is more of the log in all processes after SIGUSR2, and less after another', async () => {
    const processes = () =>
      new Set(
        service.output
          .split('\n')
          .filter((line) => line.includes('"level":"debug"'))
          .map((line) => (JSON.parse(line) as { pid: number }).pid),
      );
    const { supervisor, gateways, administration, worker } = service.pids;
    expect(processes().size).toBe(0);
    // For the group, as a terminal or a service manager sends it: the others leave it to the supervisor.
    for (const pid of [supervisor, ...gateways, administration, worker]) process.kill(pid ?? 0, 'SIGUSR2');
    await eventually(() => service.output.includes('"log_level":"debug"'), {
      what: 'the line of the launcher',
    });
    await eventually(() => [...gateways, administration, worker].every((pid) => processes().has(pid ?? 0)), {
      withinMs: 60_000,
      what: 'lines of all processes',
    });
    process.kill(supervisor, 'SIGUSR2');
    await eventually(() => service.output.includes('"log_level":"info"'), {
      what: 'the line of the launcher',
    });
    expect(service.pids).toEqual({
      supervisor,
      gateways,
      administration,
      worker,
      postgres: service.pids.postgres,
    });
  });

  it('is a row for administrators with the requests that all processes refused for one reason', async () => {
    const wrong = 'gw_ws_listed-for-administrators';
    for (let i = 0; i < 6; i++) expect((await chat({}, wrong)).status).toBe(401);

    const rows = async () => {
      const answer = await service.client.call({
        path: '/v1/audit-logs/refused-credentials?reason=malformed',
        headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key },
      });
      const { data } = jsonOf(answer) as { data: { last_four: string; requests: number }[] };
      return data.filter(({ last_four }) => last_four === wrong.slice(-4));
    };
    await eventually(async () => (await rows())[0]?.requests === 6, { withinMs: 20_000, what: 'the row' });
    expect(await rows()).toMatchObject([{ address: '127.0.0.1', path: '/v1/chat/completions' }]);
  });

  it('is a histogram of durations, merged over processes', async () => {
    const text = await metrics();
    const labels = 'provider="sandbox",endpoint="chat-completions",status="2xx"';

    expect(text).toContain(`gatehouse_request_duration_seconds_bucket{le="+Inf",${labels}} 1`);
    expect(text).toContain(`gatehouse_request_duration_seconds_count{${labels}} 1`);
    expect(text).toMatch(
      /gatehouse_model_requests_total\{provider="sandbox",model="sandbox-1",status="2xx"\} 1/,
    );
  });

  it('is every metric that the page lists, and no other', async () => {
    const served = [...(await metrics()).matchAll(/^# HELP (gatehouse_\S+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !OF_NODE.test(name));
    const listed = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `(gatehouse_\w+)`/gm)].map(
      ([, name]) => name,
    );

    expect(served.sort()).toEqual(listed.sort());
  });
});
