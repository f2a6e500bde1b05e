import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonOf } from '../support/http-client.js';
import { theService } from '../support/world.js';

const service = theService();
const get = (path: string, headers: Record<string, string> = {}) => service.client.call({ path, headers });

describe('health', () => {
  it('/livez says that the process lives', async () => {
    expect((await get('/livez')).status).toBe(200);
  });

  it('/readyz says that it serves, and with ?verbose what it looked at', async () => {
    expect((await get('/readyz')).status).toBe(200);
    const verbose = await get('/readyz?verbose');
    expect(verbose.status).toBe(200);
    expect(verbose.body.toString()).toMatch(/database/);
    expect(jsonOf(verbose).checks).toContainEqual({ name: 'limits', status: 'ok', ms: expect.any(Number) });
    expect(verbose.body.toString()).not.toMatch(/postgres(ql)?:\/\//);
  });

  it('/metrics have every metric that an alert rule names', async () => {
    const rules = readFileSync(
      join(import.meta.dirname, '../../deploy/prometheus/gatehouse-alerts.yml'),
      'utf8',
    );
    const { groups } = parse(rules) as { groups: { rules: { alert: string; expr: string }[] }[] };
    const exposed = (await get('/metrics')).body.toString();

    const named = groups.flatMap((group) =>
      group.rules.flatMap(({ expr }) => expr.match(/gatehouse_\w+/g) ?? []),
    );

    expect(named.length).toBeGreaterThan(2);
    for (const name of named)
      expect(exposed, name).toMatch(new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'));
  });

  it('/metrics are in the exposition format, and count requests', async () => {
    const before = await get('/metrics');
    expect(before.status).toBe(200);
    expect(before.headers['content-type']).toMatch(/^text\/plain/);
    const lines = before.body
      .toString()
      .split('\n')
      .filter((line) => line !== '');
    for (const line of lines)
      expect(line).toMatch(/^(# (HELP|TYPE) |[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? [-+0-9.eNaInf]+( \d+)?$)/);
    expect(lines.filter((line) => line.startsWith('gatehouse_')).length).toBeGreaterThan(3);
  });

  it('/metrics have no label of a single request, key or path', async () => {
    await get('/v1/some-unique-path-7', { 'x-gateway-api-key': service.bootstrap.workspace_api_key });
    const metrics = (await get('/metrics')).body.toString();
    expect(metrics).not.toContain('some-unique-path-7');
    expect(metrics).not.toMatch(/gw_(ws|admin|user)_/);
  });

  it.each([
    '/.git/config',
    '/debug',
    '/actuator',
    '/actuator/env',
    '/public/logs',
    '/server-status',
    '/main.js.map',
    '/.env',
    '/package.json',
  ])('Q08: %s is nothing', async (path) => {
    expect([401, 404]).toContain((await get(path)).status);
  });

  it('an unknown administrative path is a 404 in the common format', async () => {
    const answer = await get('/v1/api-keys/x/y/z', { 'x-gateway-api-key': service.bootstrap.admin_api_key });
    expect(answer.status).toBe(404);
    expect(jsonOf(answer).error).toMatchObject({ code: 'not_found', request_id: expect.any(String) });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('supports HEAD for the probes, as load balancers send it', async () => {
    for (const path of ['/livez', '/readyz']) {
      const answer = await service.client.call({ method: 'HEAD', path });
      expect([answer.status, answer.body.length]).toEqual([200, 0]);
    }
  });
});
