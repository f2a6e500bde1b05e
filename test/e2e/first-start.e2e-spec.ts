import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatehouseBin, homeOfBuild } from '../support/built-service.js';
import { jsonOf } from '../support/http-client.js';
import { descendants, isAlive } from '../support/process-tree.js';
import {
  type Bootstrap,
  launch,
  type OwnService,
  outsideStores,
  runToEnd,
  startService,
} from '../support/service.js';
import { listenOnOneOf, stopListening } from '../support/upstreams/listen.js';
import { eventually } from '../support/waiting.js';

const run = promisify(execFile);
const QUICK = { GATEHOUSE_DRAIN_DELAY_MS: '0', GATEHOUSE_PROCESSES: '2' };
/** A terminal sends SIGINT for it. */
const CONTROL_C = '\u0003';
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'gatehouse-first-'));
const chat = (key: string) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: { 'x-gateway-api-key': key, 'x-gateway-provider': 'sandbox' },
  body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] },
});

/** One sentence or two for a person: no stack, no JSON. */
function expectPlainSentence(output: string): void {
  expect(output).not.toMatch(/\n\s+at |node_modules|"level"|UnhandledPromise|Error:/);
  expect(output.trim().split('\n').length).toBeLessThanOrEqual(3);
}

describe('the first start', () => {
  it('on port 0 finds a port, and logs each step, where it listens, and the file with the keys, but no key', async () => {
    const dataDir = newFolder();
    const stores = await outsideStores();
    const started = Date.now();
    const { child, ended, outputPath } = launch(['start'], {
      ...QUICK,
      ...stores.env,
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '0',
    });
    const output = () => readFileSync(outputPath, 'utf8');
    try {
      await eventually(() => output().includes('Gatehouse is ready.'), { withinMs: 90_000, what: 'a start' });
      console.log(`the first start took ${Date.now() - started} ms`);
      const path = join(dataDir, 'bootstrap.json');
      const bootstrap = JSON.parse(readFileSync(path, 'utf8')) as Bootstrap;
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(Object.keys(bootstrap).sort()).toEqual([
        'admin_api_key',
        'base_url',
        'organisation_id',
        'setup_url',
        'workspace_api_key',
        'workspace_id',
        'workspace_slug',
      ]);
      const lines = output()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ msg }) => msg)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^Migrating the database: \d+ migrations are pending\.$/),
          'Starting 2 gateway processes.',
        ]),
      );
      expect(lines).toContainEqual(expect.objectContaining({ bootstrap_file: path }));
      expect(lines).toContainEqual(expect.objectContaining({ address: bootstrap.base_url }));
      expect(output()).not.toMatch(/gw_[a-z]+_/);
    } finally {
      child.kill('SIGTERM');
      expect((await ended).code, output()).toBe(0);
      await stores.database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('the first start on a terminal', () => {
  it('shows the keys, the set-up link, and a curl line that works unchanged', async () => {
    const dataDir = newFolder();
    const stores = await outsideStores();
    const outputPath = join(dataDir, 'terminal.log');
    const env = { ...QUICK, ...stores.env, GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_PORT: '0' };
    const terminal = spawn('script', ['-qfec', `${process.execPath} ${gatehouseBin()} start`, outputPath], {
      cwd: homeOfBuild(),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(terminal, 'exit');
    const output = (): string => (existsSync(outputPath) ? readFileSync(outputPath, 'utf8') : '');
    try {
      await eventually(() => output().includes('Gatehouse is ready.'), { withinMs: 90_000, what: 'a start' });
      const bootstrap = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Bootstrap;
      for (const shown of [bootstrap.admin_api_key, bootstrap.workspace_api_key, bootstrap.setup_url])
        expect(output()).toContain(shown);
      expect(output()).not.toContain('"level"');

      const line = /^curl .*$/m.exec(output())?.[0].trim() ?? '';
      const { stdout } = await run('bash', ['-c', `${line} -sS`]);
      expect(JSON.parse(stdout)).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant' } }],
      });
    } finally {
      terminal.stdin.write(CONTROL_C);
      await ended;
      await stores.database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('a later start', () => {
  let dataDir: string;
  let service: OwnService;
  let bootstrap: Bootstrap;
  let databaseUrl: string | null;
  let dropDatabase: () => Promise<void>;
  const env = () => (databaseUrl ? { ...QUICK, DATABASE_URL: databaseUrl } : QUICK);

  beforeAll(async () => {
    dataDir = newFolder();
    const stores = await outsideStores();
    databaseUrl = stores.database?.url ?? null;
    dropDatabase = async () => stores.database?.drop();
    service = await startService({ dataDir, env: env() });
    bootstrap = service.bootstrap;
  });
  afterAll(async () => {
    await service?.dispose();
    await dropDatabase();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('on a folder that is in use reports it in a sentence, and does no harm', async () => {
    const second = await runToEnd(['start'], { ...env(), GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_PORT: '0' });
    expect(second.code).toBe(1);
    expect(second.output).toContain(dataDir);
    expect(second.output).toMatch(/already runs/);
    expectPlainSentence(second.output);
    expect(await service.ready()).toBe(true);
  });

  it('on a port that is taken reports it in a sentence that names the port', async () => {
    const folder = newFolder();
    const taken = createServer();
    const port = await listenOnOneOf(taken, [0]);
    const second = await runToEnd(['start'], {
      ...QUICK,
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_PORT: String(port),
    });
    await stopListening(taken);
    rmSync(folder, { recursive: true, force: true });
    expect(second.code).toBe(1);
    expect(second.output).toContain(String(port));
    expectPlainSentence(second.output);
  });

  it('with several wrong settings names them all at once, and shows no value', async () => {
    const second = await runToEnd(['start'], {
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '99999',
      GATEHOUSE_PROCESSES: 'many',
      DATABASE_URL: 'mysql://user:canary-password@host/db',
      GATEHOUSE_MASTER_KEY: 'canary-short-key',
      GATEHOUSE_LOG_LEVLE: 'info',
    });
    expect(second.code).toBe(1);
    for (const name of ['GATEHOUSE_PORT', 'GATEHOUSE_PROCESSES', 'DATABASE_URL', 'GATEHOUSE_LOG_LEVLE'])
      expect(second.output).toContain(name);
    expect(second.output).not.toMatch(/canary|\n\s+at /);
  });

  it.each([
    ['empty of meaning', Buffer.alloc(32).toString('base64')],
    ['too short', Buffer.from('short').toString('base64')],
    ['a sample', 'changeme'],
  ])('Q05: with a master key that is %s refuses, and names the setting', async (_, value) => {
    const second = await runToEnd(['start'], {
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '0',
      GATEHOUSE_MASTER_KEY: value,
    });
    expect(second.code).toBe(1);
    expect(second.output).toContain('GATEHOUSE_MASTER_KEY');
    expect(second.output).not.toContain(value);
  });

  it('no child shows a secret in its arguments or its environment', () => {
    const { master_key, key_pepper } = JSON.parse(
      readFileSync(join(dataDir, 'secrets.json'), 'utf8'),
    ) as Record<string, string>;
    const secrets = [
      master_key,
      key_pepper,
      bootstrap.admin_api_key,
      bootstrap.workspace_api_key,
      bootstrap.setup_url,
    ];
    const family = descendants(service.facts.pid);
    expect(family.length).toBeGreaterThan(2);
    for (const { pid, arguments: args } of family) {
      const shown = args.join(' ') + readFileSync(`/proc/${pid}/environ`, 'latin1');
      for (const secret of secrets)
        expect(shown.includes(secret ?? ''), `process ${pid}: ${args.join(' ')}`).toBe(false);
      expect(shown).not.toMatch(/postgres(ql)?:\/\/[^\s:]+:[^\s@]+@/);
    }
  });

  it('after kill -9 of all that ran finds everything as it was, and shows no key again', async () => {
    const answer = await service.client.call(chat(bootstrap.workspace_api_key));
    expect(answer.status).toBe(200);
    const family = descendants(service.facts.pid).map(({ pid }) => pid);
    await service.kill();
    await eventually(() => family.every((pid) => !isAlive(pid)), {
      what: 'the children to end with the supervisor',
    });
    const started = Date.now();
    service = await startService({ dataDir, env: env() });
    console.log(`the start after kill -9 took ${Date.now() - started} ms`);
    expect(service.bootstrap).toEqual({
      ...bootstrap,
      base_url: service.baseUrl,
      setup_url: bootstrap.setup_url.replace(bootstrap.base_url, service.baseUrl),
    });
    expect(service.output).not.toContain(bootstrap.admin_api_key);
    expect((await service.client.call(chat(bootstrap.workspace_api_key))).status).toBe(200);
    const row = await eventually(
      async () => {
        const found = await service.client.call({
          path: `/v1/logs/${answer.requestId}`,
          headers: { 'x-gateway-api-key': bootstrap.admin_api_key },
        });
        return found.status === 200 && jsonOf(found);
      },
      { what: 'the row of the request before the kill' },
    );
    expect(row).toMatchObject({
      id: answer.requestId,
      status: 200,
      ending: 'completed',
      provider: 'sandbox',
    });
  });

  it('SIGTERM ends it with code 0, and nothing of it stays', async () => {
    const family = descendants(service.facts.pid).map(({ pid }) => pid);
    const started = Date.now();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    console.log(`SIGTERM took ${Date.now() - started} ms`);
    expect(family.filter(isAlive)).toEqual([]);
  });

  it('SIGINT, twice, ends it with code 0 as well', async () => {
    service = await startService({ dataDir, env: env() });
    process.kill(service.facts.pid, 'SIGINT');
    process.kill(service.facts.pid, 'SIGINT');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('N07: with another master key refuses, and harms nothing', async () => {
    const wrong = await runToEnd(['start'], {
      ...env(),
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '0',
      GATEHOUSE_MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7 + 1)).toString('base64'),
    });
    expect(wrong.code).toBe(1);
    expect(wrong.output).toContain('GATEHOUSE_MASTER_KEY');
    service = await startService({ dataDir, env: env() });
    expect((await service.client.call(chat(bootstrap.workspace_api_key))).status).toBe(200);
  });
});
