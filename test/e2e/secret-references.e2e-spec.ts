import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inEachGateway } from '../support/each-gateway.js';
import { type OwnService, type StartOptions, startService } from '../support/service.js';
import { type SharedStore, sharedStore } from '../support/shared-store.js';
import { Started } from '../support/started.js';
import { VaultServer } from '../support/upstreams/vault.js';
import { eventually } from '../support/waiting.js';

const started = new Started();
const [FIRST, SECOND] = ['sk-canary-first-4711', 'sk-canary-second-4711'] as const;
let vault: VaultServer;
let provider: Server;
let options: StartOptions;
let service: OwnService;
let dataDir: string;
/** The key that the provider accepts at the moment. */
let accepted: string = FIRST;

const portOf = (address: string): number => Number(new URL(address).port);

beforeAll(async () => {
  const store: SharedStore = started.add(await sharedStore(), (it) => it.stop());
  vault = started.add(await VaultServer.start(), (it) => it.close());
  provider = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const isAccepted = request.headers.authorization === `Bearer ${accepted}`;
      response
        .writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' })
        .end(
          JSON.stringify(isAccepted ? { object: 'list', data: [] } : { error: { message: 'Incorrect key' } }),
        );
    });
  });
  await new Promise<void>((ready) => provider.listen(0, '127.0.0.1', ready));
  started.add(provider, async (it) => void it.close());
  dataDir = started.add(mkdtempSync(join(tmpdir(), 'secret-references-')), async (it) =>
    rmSync(it, { recursive: true, force: true }),
  );
  options = {
    ...(store.bootstrapDir ? { bootstrapDir: store.bootstrapDir } : {}),
    dataDir,
    egressPorts: [portOf(vault.address), (provider.address() as AddressInfo).port],
    env: {
      ...store.env,
      DATABASE_URL: store.databaseUrl,
      GATEHOUSE_PROCESSES: '2',
      GATEHOUSE_DRAIN_DELAY_MS: '0',
      GATEHOUSE_SECRET_TTL_MS: '1h',
    },
  };
  service = started.add(await startService(options), (it) => it.dispose());
  vault.put('secret/data/openai', { api_key: FIRST });
  await administer('/v1/secret-references', {
    name: 'OpenAI',
    slug: 'e2e-openai',
    manager_type: 'hashicorp_vault',
    auth_config: {
      vault_auth_type: 'approle',
      vault_addr: vault.address,
      vault_role_id: vault.role.role_id,
      vault_secret_id: vault.role.secret_id,
    },
    secret_path: 'secret/openai',
  });
  await administer('/v1/virtual-keys', {
    name: 'OpenAI',
    slug: 'e2e-mapped',
    provider: 'openai',
    workspace_id: service.bootstrap.workspace_id,
    custom_host: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`,
    secret_mappings: [{ target_field: 'key', secret_reference_id: 'e2e-openai' }],
  });
});
afterAll(() => started.end());

/** On a busy machine the administration may still be starting. */
const administer = (path: string, body: object): Promise<true> =>
  eventually(
    async () => {
      const answer = await service.client.call({
        method: 'POST',
        path,
        headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status, String(answer.body)).toBe(200);
      return true;
    },
    { what: `POST ${path}` },
  );

/** On a connection of its own. */
const use = async (): Promise<number> => {
  const answer = await service.client.call({
    path: '/v1/files',
    headers: {
      'x-gateway-api-key': service.bootstrap.workspace_api_key,
      'x-gateway-virtual-key': 'e2e-mapped',
    },
    fresh: true,
  });
  return answer.status;
};

describe('a key in Vault', () => {
  it('serves requests of every process, and is read once by each', async () => {
    expect(await inEachGateway(service, use)).toEqual([200, 200]);
    const reads = () => vault.calls.filter((call) => call.startsWith('read')).length;
    expect(reads()).toBe(2);
    expect(await inEachGateway(service, use)).toEqual([200, 200]);
    expect(reads()).toBe(2);
  });

  it('is rotated without a restart: the first refusal of the provider makes each process read it again', async () => {
    vault.put('secret/data/openai', { api_key: SECOND });
    accepted = SECOND;
    expect(await inEachGateway(service, use)).toEqual([401, 401]);
    await eventually(async () => (await inEachGateway(service, use)).every((status) => status === 200), {
      what: 'every process uses the new key',
    });
  });

  it('works after a restart while Vault is unavailable, from the snapshot', async () => {
    await service.stop();
    vault.fault = 'down';
    service = started.add(await startService(options), (it) => it.dispose());
    expect(await inEachGateway(service, use)).toEqual([200, 200]);
    vault.fault = null;
  });

  it('never appears in the output or the files of the service', () => {
    const texts = [service.output, ...filesIn(dataDir)];
    for (const text of texts)
      for (const canary of [FIRST, SECOND, vault.role.secret_id]) expect(text.includes(canary)).toBe(false);
  });
});

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) yield textOf(join(entry.parentPath, entry.name));
}

/** The service renames the half-written files of its spool meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
