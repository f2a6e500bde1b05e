import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DashboardFiles } from './dashboard-files.js';
import { RelayedServer } from './relayed-server.js';

let folder: string;
let socket: string;
let relayed: RelayedServer;

async function listen(startingTimeoutMs: number): Promise<void> {
  relayed = new RelayedServer(await DashboardFiles.read(join(folder, 'dashboard')), startingTimeoutMs);
  await relayed.listen(socket);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relayed-'));
  socket = join(folder, 's');
  mkdirSync(join(folder, 'dashboard'));
  writeFileSync(
    join(folder, 'dashboard', 'index.html'),
    '<script nonce="__CSP_NONCE__"></script>__SESSION__',
  );
});
afterEach(() => {
  relayed.server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

function send(path: string, headers = {}): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: socket, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    outgoing.on('error', reject).end();
  });
}

describe('before the administration has started', () => {
  it('the dashboard is served, with a nonce in place of the placeholder', async () => {
    await listen(60_000);
    const { status, text } = await send('/ui/');
    expect(status).toBe(200);
    expect(text).toMatch(/<script nonce="[\w+/]{22}==">/);
  });

  it('the shell says whether the browser came with a session, and never which', async () => {
    await listen(60_000);
    expect((await send('/ui/')).text).toMatch(/none$/);
    expect((await send('/ui/', { cookie: 'other=gatehouse' })).text).toMatch(/none$/);
    for (const name of ['gatehouse_session', '__Host-gatehouse']) {
      const { text } = await send('/ui/', { cookie: `a=b; ${name}=the-secret` });
      expect(text).toMatch(/presented$/);
      expect(text).not.toContain('the-secret');
    }
  });

  it('a request of the administration waits, and is served by it', async () => {
    await listen(60_000);
    const waiting = send('/v1/admin/me');
    const race = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, 'waiting'))]);
    expect(race).toBe('waiting');

    relayed.begin((_request, response) => response.end('begun'));

    expect(await waiting).toEqual({ status: 200, text: 'begun' });
  });

  it('a request that has waited too long is refused, and never reaches the administration later', async () => {
    await listen(30);
    const { status, text } = await send('/v1/admin/me');
    expect([status, text]).toEqual([503, expect.stringContaining('administration_unavailable')]);

    let asked = 0;
    relayed.begin((_request, response) => {
      asked++;
      response.end();
    });
    await send('/v1/configs');
    expect(asked).toBe(1);
  });
});
