import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatehouseBin, homeOfBuild } from '../support/built-service.js';
import { type OwnService, outsideStores, runToEnd, startService } from '../support/service.js';
import { portRange } from '../support/ports.js';
import { World } from '../support/world.js';

describe('the command gatehouse', () => {
  let service: OwnService;
  let dataDir: string;
  let databaseEnv: Readonly<Record<string, string>>;
  let dropDatabase: () => Promise<void>;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-commands-'));
    const stores = await outsideStores();
    databaseEnv = stores.env;
    dropDatabase = async () => stores.database?.drop();
    service = await startService({
      dataDir,
      egressPorts: await portRange(2),
      env: { ...databaseEnv, GATEHOUSE_PROCESSES: '1' },
    });
  });
  afterAll(async () => {
    await service?.dispose();
    await dropDatabase();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const run = (...args: string[]) => runToEnd(args, { ...databaseEnv, GATEHOUSE_DATA_DIR: dataDir });

  it.each([
    [['help'], 0, 'Usage: gatehouse <command>'],
    [['help', 'apply'], 0, 'Usage: gatehouse apply'],
    [['help', 'rotate', 'master-key'], 0, 'Usage: gatehouse rotate'],
    [['-v'], 0, /^\d+\.\d+\.\d+/],
    [['--version'], 0, /^\d+\.\d+\.\d+/],
    [['strat', 'now'], 2, 'unknown command "strat" (did you mean "start"?)'],
    [['doctor', '--jsno'], 2, "unknown option '--jsno'"],
    [['apply'], 2, "required option '-f, --file <path>'"],
    [['apply', '-f', '/nowhere/file.yaml'], 1, 'There is no file /nowhere/file.yaml.'],
    [['apply', '-f', '/tmp'], 1, '/tmp is a folder. Name a YAML file.'],
    [['rotate', 'master-key'], 1, 'cannot be confirmed without a terminal'],
  ] as const)('ends %j with exit code %i and its reason', async (args, code, output) => {
    const ended = await run(...args);

    expect(ended.output).toMatch(output);
    expect(ended.output).not.toMatch(/ENOENT|\n\s+at /);
    expect(ended.code).toBe(code);
  });

  it('prints the findings of doctor as lines of JSON', async () => {
    const { code, output } = await run('doctor', '--json');

    const findings = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'Settings', result: 'ok', todo: '' }));
    for (const finding of findings)
      expect(Object.keys(finding)).toEqual(['check', 'result', 'detail', 'todo']);
    expect(code).toBe(0);
  });

  it('migrates and recounts beside a running instance, also with its embedded database', async () => {
    expect(await run('migrate', '--status')).toMatchObject({
      code: 0,
      output: 'The schema is up to date.\n',
    });
    expect(await run('rebuild', 'rollups')).toMatchObject({ code: 0 });
    expect(await service.ready()).toBe(true);
  });

  it('writes a support bundle beside a running instance, without a secret, body or key of its traffic', async () => {
    const world = await World.create('support', service);
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: world.canaries.make('body') }] };
    await world.send({ method: 'POST', path: '/v1/chat/completions', body });
    await world.checkLog();
    const bundle = join(dataDir, 'bundle.tar.gz');

    const made = await run('support-bundle', '--to', bundle, '--log', service.facts.outputPath, '--json');

    expect(made.code, made.output).toBe(0);
    const [result = ''] = made.output.split('\n').filter((line) => line.startsWith('{'));
    const { contents } = JSON.parse(result) as { readonly contents: readonly string[] };
    expect(contents).toEqual(
      expect.arrayContaining(['database.json', 'metrics.txt', 'readiness.json', 'log.jsonl']),
    );
    const files = contents.map((name) => ({ name, bytes: execFileSync('tar', ['xzOf', bundle, name]) }));
    expect(world.canaries.scan(files)).toEqual([]);
    const textOf = (name: string): string => String(files.find((file) => file.name === name)?.bytes);
    expect(textOf('metrics.txt')).toContain('gatehouse_spool_pending_bytes');
    expect(textOf('readiness.json')).toContain('"status"');
    expect(textOf('log.jsonl')).toContain('"component":"launcher"');
    await world.close();
  });

  it('applies a file from standard input, and says what it created and updated', async () => {
    const apply = async (description: string): Promise<string> => {
      const { PATH = '' } = process.env;
      const child = spawn(process.execPath, [gatehouseBin(), 'apply', '-f', '-', '--yes'], {
        cwd: homeOfBuild(),
        env: { PATH, ...databaseEnv, GATEHOUSE_DATA_DIR: dataDir },
      });
      child.stdin.end(`workspaces:\n  - name: From a pipe\n    description: ${description}\n`);
      const [output, errors] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      return output + errors;
    };

    expect(await apply('one')).toContain('created  workspace "From a pipe"');
    expect(await apply('two')).toContain('updated  workspace "From a pipe"');
  });
});
