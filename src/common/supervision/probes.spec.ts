import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LoopHealth } from '../loops/loop-health.js';
import { VERSION } from '../version.js';
import { Probes } from './probes.js';

let server: Server | undefined;
const loops: LoopHealth[] = [];

/** A loop without a success for longer than its bound. */
function aStalledLoop(name: string): LoopHealth {
  const loop = new LoopHealth(name, -1).watch();
  loops.push(loop);
  return loop;
}

async function readiness(probes: Probes) {
  server = createServer((request, response) => void probes.answer(request, response));
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/readyz?verbose`);
  return {
    code: answer.status,
    ...((await answer.json()) as { status: string; checks: { readonly name: string }[] }),
  };
}

describe('what runs here', () => {
  const open = async (path: string, accept: string) => {
    const probes = new Probes([], undefined);
    server = createServer((request, response) => {
      if (!probes.answer(request, response)) response.writeHead(404).end();
    });
    await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept } });
  };
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  it.each(['/', '/version'])('is served at %s with its version', async (path) => {
    const answer = await open(path, '*/*');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ name: 'gatehouse', version: VERSION });
  });

  it('leaves / to the dashboard where a browser opens it', async () => {
    expect((await open('/', 'text/html,*/*;q=0.8')).status).toBe(404);
  });

  it('returns at /health what /readyz returns', async () => {
    // Any result is fine here: loops of other suites are watched in this process too.
    const [health, readiness] = [await open('/health', '*/*'), await open('/readyz', '*/*')];
    expect(health.status).toBe(readiness.status);
    expect(await health.json()).toEqual(await readiness.json());
  });
});

describe('readiness', () => {
  afterEach(() => {
    for (const loop of loops.splice(0)) loop.unwatch();
    server?.close();
    server?.closeAllConnections();
  });

  it('names a stalled loop, and stays ready: requests are served all the same', async () => {
    aStalledLoop('shipper-under-test');

    const { code, status, checks } = await readiness(new Probes([], undefined));

    expect([code, status]).toEqual([200, 'degraded']);
    expect(checks).toContainEqual({
      name: 'loop shipper-under-test',
      status: 'degraded',
      detail: 'It has not succeeded for 0 s.',
    });
  });

  it('fails when the stalled loop is the purpose of the process', async () => {
    aStalledLoop('shipper-under-test');

    const { code, status, checks } = await readiness(new Probes([], undefined, ['shipper-under-test']));

    expect([code, status]).toEqual([503, 'not ready']);
    expect(checks).toContainEqual(expect.objectContaining({ status: 'failed' }));
  });

  it('has no line for a loop that works', async () => {
    loops.push(new LoopHealth('at-work', 60_000).watch());

    // Other spec files of this process may have left loops.
    const { checks } = await readiness(new Probes([], undefined));

    expect(checks.map(({ name }) => name)).not.toContain('loop at-work');
  });
});
