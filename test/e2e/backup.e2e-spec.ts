import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatehouseBin, homeOfBuild } from '../support/built-service.js';
import { withDatabase } from '../support/database-dump.js';
import { freePort, portRange } from '../support/ports.js';
import { type OwnService, outsideStores, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually } from '../support/waiting.js';
import { World } from '../support/world.js';

const PASSPHRASE = 'a passphrase of the test';
const SLOW = { timeout: 240_000 };

describe('backup and restore', () => {
  const started = new Started();
  let folder: string;
  let backup: string;
  let service: OwnService;
  let world: World;
  let sourceEnv: Record<string, string>;
  let egressPorts: readonly number[];

  /** A data folder and a database of its own, or the embedded one. */
  async function place(name: string): Promise<Record<string, string>> {
    const stores = await outsideStores();
    started.add(null, () => stores.database?.drop());
    return {
      ...stores.env,
      GATEHOUSE_DATA_DIR: join(folder, name),
      GATEHOUSE_PORT: String(await freePort()),
      GATEHOUSE_PROCESSES: '1',
      GATEHOUSE_DRAIN_DELAY_MS: '0',
      PASSPHRASE,
    };
  }
  const withPassphrase = ['--passphrase-env', 'PASSPHRASE'] as const;
  const run = (env: Record<string, string>, ...args: string[]) => runToEnd(args, env, 200_000);
  const back = (env: Record<string, string>, to: string) => run(env, 'backup', '--to', to, ...withPassphrase);
  const restore = (env: Record<string, string>, from: string, ...more: string[]) =>
    run(env, 'restore', '--from', from, ...withPassphrase, ...more);
  const startIn = (env: Record<string, string>): Promise<OwnService> =>
    startService({ dataDir: env['GATEHOUSE_DATA_DIR'] ?? '', env, egressPorts });
  const ask = async (of: OwnService): Promise<number> => {
    const body = { model: 'gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };
    const call = { method: 'POST', path: '/v1/chat/completions', headers: world.headers, fresh: true, body };
    return (await of.client.call(call)).status;
  };
  const spawned = (args: readonly string[], env: Record<string, string>): ChildProcess =>
    spawn(process.execPath, [gatehouseBin(), ...args], {
      cwd: homeOfBuild(),
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: 'ignore',
    });
  async function killed(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  beforeAll(async () => {
    folder = started.add(mkdtempSync(join(tmpdir(), 'gatehouse-backup-')), (path) =>
      rmSync(path, { recursive: true, force: true }),
    );
    backup = join(folder, 'backup.tar');
    egressPorts = await portRange(4);
    sourceEnv = await place('source');
    service = started.add(await startIn(sourceEnv), (it) => it.dispose());
    world = started.add(await World.create('backup', service), (it) => it.close());
    for (let count = 0; count < 5; count++) expect(await ask(service)).toBe(200);
    const shipped = (): Promise<boolean> =>
      withDatabase(service, async (client) => {
        const { rows } = await client.query<{ logged: number }>(
          'SELECT count(*)::int AS logged FROM request_logs',
        );
        return (rows[0]?.logged ?? 0) >= 5;
      });
    await eventually(shipped, { withinMs: 30_000, what: 'the log' });
  });
  afterAll(() => started.end());

  it('leaves no backup when it is killed', SLOW, async () => {
    const to = join(folder, 'killed.tar');
    await withDatabase(service, async (client) => {
      // The backup waits for this table, with its file open.
      await client.query('BEGIN; LOCK TABLE workspaces IN ACCESS EXCLUSIVE MODE');
      const child = spawned(['backup', '--to', to, ...withPassphrase], sourceEnv);
      const isWriting = (): boolean => readdirSync(folder).some((name) => name.startsWith('killed.tar.'));
      await eventually(isWriting, { withinMs: 30_000, what: 'the file of the backup' });
      await killed(child);
      await client.query('ROLLBACK');
    });

    expect(existsSync(to)).toBe(false);
    const [rest = ''] = readdirSync(folder).filter((name) => name.startsWith('killed.tar.'));
    const refused = await restore(await place('killed'), join(folder, rest));
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('is not a complete backup') });
  });

  it('backs up beside the running service, and a restored copy serves the same keys', SLOW, async () => {
    const made = await run(sourceEnv, 'backup', '--to', backup, '--json', ...withPassphrase);
    expect(made.code, made.output).toBe(0);
    const clear = readFileSync(backup);
    for (const secret of Object.values(JSON.parse(readFileSync(secretsIn(sourceEnv), 'utf8')) as object))
      expect(clear.includes(String(secret))).toBe(false);
    await service.stop();

    const env = await place('copy');
    const restored = await restore(env, backup, '--json');
    expect(restored.code, restored.output).toBe(0);
    const result = JSON.parse(restored.output.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(result).toMatchObject({ is_verified: true, audit_is_intact: true, money_is_equal: true });
    expect(result['credentials_opened']).toBe(result['credentials_tried']);
    expect(Number(result['credentials_tried'])).toBeGreaterThan(1);

    const again = join(folder, 'again.tar');
    expect(await back(env, again)).toMatchObject({ code: 0 });
    expect(sectionsOf(again)).toEqual(sectionsOf(backup));
    const copy = await startIn(env);
    expect(await ask(copy)).toBe(200);
    await copy.stop();
    expect(await run(env, 'audit', 'verify')).toMatchObject({ code: 0 });
    expect(await run(env, 'verify', 'money')).toMatchObject({ code: 0 });
  });

  it('replaces an installation only when that is confirmed', SLOW, async () => {
    const env = await place('other');
    const other = await startIn(env);
    const beside = await restore(env, backup, '--replace', '--yes');
    expect(beside.code, beside.output).toBe(1);
    await other.stop();

    const refused = await restore(env, backup);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('--replace') });
    const unconfirmed = await restore(env, backup, '--replace');
    expect(unconfirmed).toMatchObject({ code: 1, output: expect.stringContaining('cannot be confirmed') });
    const replaced = await restore(env, backup, '--replace', '--yes');
    expect(replaced.code, replaced.output).toBe(0);
    const copy = await startIn(env);
    expect(await ask(copy)).toBe(200);
    await copy.stop();
  });

  it('refuses another passphrase and a changed file before it touches the database', SLOW, async () => {
    const env = await place('untouched');
    const wrong = await restore({ ...env, PASSPHRASE: 'another passphrase' }, backup);
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining('does not open this backup') });
    const bytes = readFileSync(backup);
    const at = bytes.indexOf('tables/users/000001.gz') + 512 + 20;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const changed = join(folder, 'changed.tar');
    writeFileSync(changed, bytes);
    const refused = await restore(env, changed);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('is not a complete backup') });
    expect(existsSync(secretsIn(env))).toBe(false);
  });

  it('says after a killed restore that it is unfinished, and a second one completes it', SLOW, async () => {
    const env = await place('interrupted');
    const child = spawned(['restore', '--from', backup, ...withPassphrase], env);
    // Written after the mark and before the rows.
    await eventually(() => existsSync(secretsIn(env)), {
      withinMs: 120_000,
      everyMs: 5,
      what: 'the secrets',
    });
    await killed(child);

    const start = await run(env, 'start');
    expect(start.output).toContain('unfinished restore');
    expect(start.code).toBe(1);
    const second = await restore(env, backup);
    expect(second.code, second.output).toBe(0);
    const copy = await startIn(env);
    expect(await ask(copy)).toBe(200);
    await copy.stop();
  });

  const secretsIn = (env: Record<string, string>): string =>
    join(env['GATEHOUSE_DATA_DIR'] ?? '', 'secrets.json');

  /** Tables by their checksums. The rest has times of its own. */
  function sectionsOf(path: string): readonly unknown[] {
    const text = readFileSync(path).toString('latin1');
    const from = text.indexOf('{', text.lastIndexOf('checksums.json'));
    const { sections } = JSON.parse(text.slice(from, text.indexOf('\0', from))) as {
      sections: readonly { readonly name: string }[];
    };
    return sections.filter(({ name }) => name.startsWith('tables/'));
  }
});
