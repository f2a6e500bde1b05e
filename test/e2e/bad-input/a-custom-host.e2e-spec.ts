import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, Vitals } from '../../support/refusals.js';
import { CanaryListener } from '../../support/upstreams/canary-listener.js';
import { World } from '../../support/world.js';

/** Section A: where a caller may send the gateway. The canary listens on a loopback port that is not allowed. */
let world: World;
let canary: CanaryListener;
let vitals: Vitals;

beforeAll(async () => {
  world = await World.create('custom-host');
  canary = await CanaryListener.start();
  vitals = new Vitals(world.service);
});
afterEach(async () => {
  await vitals.check();
  expect(canary.hits, 'the canary was reached').toBe(0);
});
afterAll(async () => {
  await canary.stop();
  await world.close();
});

const ask = (customHost: string) =>
  world.send({
    method: 'POST',
    path: '/v1/rerank',
    headers: world.hostHeaders(customHost),
    body: { query: 'x' },
  });

/** `CAN` stands for the canary's port. */
const BLOCKED: readonly (readonly [id: string, host: string])[] = [
  ['A01', 'http://127.0.0.1:CAN/'],
  ['A02', 'http://169.254.169.254/latest/meta-data/'],
  ['A02', 'http://169.254.170.2/v2/credentials'],
  ['A02', 'http://[fd00:ec2::254]/latest/'],
  ['A02', 'http://metadata.google.internal/computeMetadata/v1/'],
  ['A04', 'http://localhost:CAN'],
  ['A04', 'http://LOCALHOST.:CAN'],
  ['A04', 'http://a.localhost:CAN'],
  ['A04', 'http://ip6-localhost:CAN'],
  ['A04', 'http://host.docker.internal:CAN'],
  ['A05', 'http://2130706433:CAN/'],
  ['A05', 'http://0x7f000001:CAN/'],
  ['A05', 'http://0177.0.0.1:CAN/'],
  ['A05', 'http://127.1:CAN/'],
  ['A09', 'http://0:CAN/'],
  ['A09', 'http://0.0.0.0:CAN/'],
  ['A15', 'http://[::ffff:127.0.0.1]:CAN/'],
  ['A15', 'http://[::ffff:7f00:1]:CAN/'],
  ['A15', 'http://[::1]:CAN/'],
  ['A15', 'http://[::]:CAN/'],
  ['A15', 'http://[64:ff9b::7f00:1]:CAN/'],
  ['A19', 'http://[fe80::1]/'],
  ['A19', 'http://[fec0::1]/'],
  ['A19', 'http://[fc00::1]/'],
  ['A19', 'http://[ff02::1]/'],
  ['A19', 'http://100.64.0.1/'],
  ['A19', 'http://198.18.0.1/'],
  ['A19', 'http://224.0.0.1/'],
  ['A19', 'http://240.0.0.1/'],
  ['A19', 'http://255.255.255.255/'],
  ['A19', 'http://192.0.2.1/'],
  ['A19', 'http://10.0.0.1/'],
  ['A19', 'http://172.16.0.1/'],
  ['A19', 'http://192.168.0.1/'],
  ['A31', 'http://127.0.0.1:22/'],
  ['A31', 'http://127.0.0.1:5432/'],
  ['A31', 'http://127.0.0.1:6379/'],
];

const INVALID: readonly (readonly [id: string, host: string])[] = [
  ['A13', 'http://api.openai.com@127.0.0.1:CAN/'],
  ['A13', 'http://user:secret@127.0.0.1:CAN/'],
  ['A13', 'http://127.0.0.1#@api.openai.com'],
  ['A13', 'http://api.openai.com#@127.0.0.1:CAN'],
  ['A13', 'http:\\\\127.0.0.1:CAN'],
  ['A13', 'http:127.0.0.1:CAN'],
  ['A13', 'http:///127.0.0.1:CAN'],
  ['A31', 'http://127.0.0.1:0/'],
  ['A31', 'http://127.0.0.1:65536/'],
  ['A31', 'http://127.0.0.1:-1/'],
  ['A40', 'file:///etc/passwd'],
  ['A40', 'gopher://127.0.0.1:CAN/x'],
  ['A40', 'ftp://127.0.0.1:CAN/'],
  ['A40', 'data:text/plain,x'],
  ['A40', 'unix:/var/run/docker.sock'],
  ['A40', 'ws://127.0.0.1:CAN/'],
  ['A40', 'https+x://127.0.0.1:CAN/'],
  ['A40', '//127.0.0.1:CAN'],
  ['A40', '127.0.0.1:CAN'],
  ['A40', 'javascript:alert(1)'],
  ['A40', 'http://'],
  ['A40', `http://127.0.0.1:CAN/${'a'.repeat(2_049)}`],
  ['A40', 'http://127.0.0.1:CAN/?x=1'],
  ['A40', 'http://127.0.0.1:CAN/%2e%2e/x'],
  ['A40', 'http://127.0.0.1:CAN/../x'],
];

const shown = (host: string): string =>
  host.length > 80 ? `${host.slice(0, 60)}… (${host.length} characters)` : host;

describe('A: a custom host', () => {
  it.each(BLOCKED.map(([id, host]) => ({ id, host, title: shown(host) })))(
    '$id: $title is blocked',
    async ({ host }) => {
      const url = host.replace('CAN', String(canary.port));
      const answer = await ask(url);
      expect([answer.status, answer.headers['x-gateway-error-source']]).toEqual([403, 'gateway']);
      expectRefusal(answer.body, 'custom_host_blocked', url);
    },
  );

  it.each(INVALID.map(([id, host]) => ({ id, host, title: shown(host) })))(
    '$id: $title is not an address',
    async ({ host }) => {
      const answer = await ask(host.replace('CAN', String(canary.port)));
      expect(answer.status).toBe(400);
      expectRefusal(answer.body, 'custom_host_invalid');
    },
  );

  it('A25: a redirect into the machine is returned and not followed', async () => {
    const location = `http://127.0.0.1:${canary.port}/`;
    world.upstream.on('/v1/rerank', { status: 302, headers: [['location', location]] });
    const answer = await ask(`${world.upstream.url}/v1`);
    expect([answer.status, answer.headers['location']]).toEqual([302, location]);
  });

  it('A30: a port that the operator opened is reached, once', async () => {
    world.upstream.reset();
    const answer = await ask(`${world.upstream.url}/v1`);
    expect(answer.status).toBe(200);
    expect(world.upstream.ledger.map(({ target }) => target)).toEqual(['/v1/rerank']);
  });

  it('A38: the gateway itself is not a provider', async () => {
    const answer = await ask(`${world.service.baseUrl}/v1`);
    expect([403, 508]).toContain(answer.status);
    expectRefusal(
      answer.body,
      answer.status === 403 ? 'custom_host_blocked' : 'loop_detected',
      world.service.baseUrl,
    );
  });

  it('A38: a loop through a provider ends at the second pass', async () => {
    world.upstream.reset();
    world.upstream.on('/v1/rerank', async (received) => {
      const sentOn = Object.fromEntries(
        received.headers.filter(
          ([name]) => !/^(host|connection|content-length|transfer-encoding)$/i.test(name),
        ),
      );
      const inner = await world.send({
        method: 'POST',
        path: '/v1/rerank',
        headers: { ...sentOn, ...world.hostHeaders(`${world.upstream.url}/v1`) },
        body: received.body,
      });
      return { status: inner.status, headers: [['content-type', 'application/json']], body: inner.body };
    });
    const answer = await ask(`${world.upstream.url}/v1`);
    expect(answer.status).toBe(508);
    expectRefusal(answer.body, 'loop_detected');
    expect(world.upstream.ledger).toHaveLength(1);
  });

  it('a custom host beside a virtual key that pins another is refused, and the stored secret is sent nowhere', async () => {
    world.upstream.reset();
    const answer = await world.send({
      method: 'POST',
      path: '/v1/rerank',
      headers: { ...world.headers, 'x-gateway-custom-host': `${world.upstream.url}/elsewhere` },
      body: {},
    });
    expect(answer.status).toBe(400);
    expectRefusal(answer.body, 'invalid_request');
    expect(world.upstream.ledger).toEqual([]);
  });

  it.each([
    ['blocked', 'http://169.254.169.254/'],
    ['blocked', 'http://127.0.0.1:22/'],
  ])('a virtual key cannot pin a host that is %s: %s', async (_, customHost) => {
    const { workspace_id } = world.service.bootstrap;
    const answer = await world.administration.call('POST', '/v1/virtual-keys', {
      name: 'pinned to nowhere',
      provider: 'openai',
      key: world.providerSecret,
      workspace_id,
      custom_host: customHost,
    });
    expect(answer.status).toBe(403);
    expectRefusal(answer.body, 'custom_host_blocked', customHost);
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
