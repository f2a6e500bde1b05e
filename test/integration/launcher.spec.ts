import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CompiledSource, compileSource } from '../support/compiled-source.js';
import { emptyDatabase } from '../support/database.js';
import { freePort } from '../support/ports.js';
import { descendants, isAlive, type ProcessFacts } from '../support/process-tree.js';
import { eventually, sleep } from '../support/waiting.js';

/**
 * The launcher with everything real but its children: small programs stand in for the gateway and the background
 * process, so that what is tested is how they are started, watched and ended.
 */
const FIXTURES = resolve(import.meta.dirname, '../fixtures/launcher');

let source: CompiledSource;
let command: string;
let dataDir: string;
/** What a first start left: making it takes most of a start. */
let madeFolder: string;
let port: number;
/** Longer than anything else here takes. */
const LONG_DRAIN_MS = 60_000;
const launched: Launched[] = [];

class Launched {
  readonly ended: Promise<number | null>;
  private outputText = '';

  constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.outputText += text));
    this.ended = new Promise((done) => child.once('close', (code) => done(code)));
  }

  get output(): string {
    return this.outputText;
  }

  get family(): readonly ProcessFacts[] {
    return descendants(this.child.pid ?? 0);
  }

  of(script: string): readonly number[] {
    return this.family
      .filter(({ arguments: args }) => args.some((arg) => arg.endsWith(script)))
      .map(({ pid }) => pid);
  }

  get postmaster(): number {
    return (
      this.family.find(({ command: name, arguments: args }) => name === 'postgres' && args.includes('-D'))
        ?.pid ?? 0
    );
  }

  untilReady(): Promise<boolean> {
    return eventually(() => this.output.includes('Gatehouse is ready.'), {
      everyMs: 20,
      what: this.output,
    });
  }
}

const aFolder = (): string => mkdtempSync(join(tmpdir(), 'gatehouse-launcher-'));

function launch(args: readonly string[], env: Readonly<Record<string, string>> = {}): Launched {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [command, ...args], {
    env: {
      PATH,
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: String(port),
      GATEHOUSE_PROCESSES: '2',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const service = new Launched(child);
  launched.push(service);
  return service;
}

async function start(env: Readonly<Record<string, string>> = {}): Promise<Launched> {
  const service = launch(['start'], env);
  await Promise.race([
    service.untilReady(),
    service.ended.then((code) => Promise.reject(new Error(`${code}: ${service.output}`))),
  ]);
  return service;
}

async function ask(path = '/'): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  return answer.text();
}

async function organizations(url: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT id FROM organizations')).rowCount;
  } finally {
    await client.end();
  }
}

const bootstrapFile = (): Record<string, string> =>
  JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>;

describe('gatehouse start', () => {
  beforeAll(() => {
    source = compileSource();
    copyFileSync(join(FIXTURES, 'gateway.mjs'), source.at('main.js'));
    for (const program of ['administration.js', 'worker.js'])
      copyFileSync(join(FIXTURES, 'worker.mjs'), source.at(program));
    command = source.program(
      'run.js',
      "import { runCommand } from './cli/cli.js';\nawait runCommand(process.argv.slice(2));\n",
    );
  });
  beforeAll(async () => {
    madeFolder = dataDir = aFolder();
    port = await freePort();
    const { child, ended } = await start();
    child.kill('SIGINT');
    await ended;
  }, 120_000);
  afterAll(() => {
    rmSync(madeFolder, { recursive: true, force: true });
    source.remove();
  });

  beforeEach(async () => {
    dataDir = aFolder();
    port = await freePort();
  });
  afterEach(async () => {
    for (const { child, ended, family } of launched.splice(0)) {
      child.kill('SIGKILL');
      await ended;
      // They notice by themselves, and write into the folder until they have.
      await eventually(() => !family.some(({ pid }) => isAlive(pid)), { what: 'the children to end' });
    }
    rmSync(dataDir, { recursive: true, force: true });
  });

  describe('in an empty folder', () => {
    it('makes everything on the first start, names the file with the keys once, and is the same instance later', async () => {
      const first = await start();
      const made = bootstrapFile();

      expect(Object.keys(made).sort()).toEqual([
        'admin_api_key',
        'base_url',
        'organisation_id',
        'setup_url',
        'workspace_api_key',
        'workspace_id',
        'workspace_slug',
      ]);
      expect(made['base_url']).toBe(`http://127.0.0.1:${port}`);
      expect(statSync(join(dataDir, 'bootstrap.json')).mode & 0o777).toBe(0o600);
      // The output of a service may be collected, so it names the file and holds no key.
      expect(first.output).toContain(join(dataDir, 'bootstrap.json'));
      for (const name of ['admin_api_key', 'workspace_api_key', 'setup_url'])
        expect(first.output).not.toContain(made[name]);
      first.child.kill('SIGINT');
      expect(await first.ended).toBe(0);

      port = await freePort();
      const later = await start();

      expect(later.output).not.toContain(made['admin_api_key']);
      expect(later.output).not.toContain(made['workspace_api_key']);
      expect(bootstrapFile()).toEqual({
        ...made,
        base_url: `http://127.0.0.1:${port}`,
        setup_url: made['setup_url']?.replace(/:\d+/, `:${port}`),
      });
    });

    it('picks a port for GATEHOUSE_PORT=0 and says which', async () => {
      const service = await start({ GATEHOUSE_PORT: '0' });

      port = Number(new URL(bootstrapFile()['base_url'] ?? '').port);
      expect(service.output).toContain(`"address":"http://127.0.0.1:${port}"`);
      expect(await ask()).toContain('"pid"');
    });

    it('reports a taken port in one sentence, before it creates anything', async () => {
      await start();
      const other = mkdtempSync(join(tmpdir(), 'gatehouse-launcher-other-'));
      const second = launch(['start'], { GATEHOUSE_DATA_DIR: other });

      expect(await second.ended).toBe(1);
      expect(second.output.trim().split('\n')).toEqual([
        expect.stringContaining(`cannot listen on 127.0.0.1:${port}`),
      ]);
      expect(existsSync(join(other, 'postgres'))).toBe(false);
      rmSync(other, { recursive: true });
    });

    it('names a command that there is not, and starts nothing for it', async () => {
      const service = launch(['strat']);
      expect(await service.ended).toBe(2);
      expect(service.output).toBe(
        'error: unknown command "strat" (did you mean "start"?); see gatehouse --help\n',
      );
    });

    it('lists all wrong settings without a stack', async () => {
      const service = launch(['start'], {
        GATEHOUSE_PROCESSES: 'many',
        GATEHOUSE_HOTS: 'x',
        GATEHOUSE_MASTER_KEY: 'short',
      });

      expect(await service.ended).toBe(1);
      expect(service.output).toContain('GATEHOUSE_PROCESSES');
      expect(service.output).toContain('GATEHOUSE_HOTS');
      expect(service.output).toContain('GATEHOUSE_MASTER_KEY');
      expect(service.output).not.toMatch(/^\s+at /m);
    });

    it('gives up with a sentence when a gateway cannot start', async () => {
      const service = launch(['start'], { FIXTURE_BROKEN: '1' });

      expect(await service.ended).toBe(1);
      expect(service.output).toContain(
        'The gateway process ended before it was ready, 5 times in a row, last with code 7.',
      );
    });

    it('stops on request during start-up, and leaves nothing that blocks the next start', async () => {
      for (const afterMs of [150, 500, 900, 1_300]) {
        const service = launch(['start']);
        await sleep(afterMs);
        const family = service.family.map(({ pid }) => pid);
        service.child.kill('SIGTERM');
        await service.ended;
        expect(family.filter(isAlive)).toEqual([]);
      }
      await start();
    }, 120_000);

    it('comes up whenever its first start was killed, with keys in the file that are those of the database', async () => {
      for (let afterMs = 250; afterMs <= 2_650; afterMs += 300) {
        const service = launch(['start']);
        await Promise.race([sleep(afterMs), service.ended]);
        service.child.kill('SIGKILL');
        await service.ended;
      }

      const service = await start();
      const made = bootstrapFile();
      const client = new pg.Client({
        connectionString: readFileSync(join(dataDir, 'run', 'database_url'), 'utf8'),
      });
      await client.connect();
      const { rows } = await client.query<{ id: string }>('SELECT id FROM organizations');
      await client.end();

      expect(rows).toEqual([{ id: made['organisation_id'] }]);
      service.child.kill('SIGINT');
      expect(await service.ended).toBe(0);
    }, 180_000);

    it('lists, dry-runs and runs migrations by a command', async () => {
      const status = launch(['migrate', '--status']);
      expect(await status.ended).toBe(1);
      expect(status.output).toMatch(/Pending:\n {2}\d{13}-/);

      const rehearsal = launch(['migrate', '--dry-run']);
      expect([await rehearsal.ended, rehearsal.output]).toEqual([
        0,
        expect.stringContaining('Nothing was changed'),
      ]);
      expect(await launch(['migrate', '--status']).ended).toBe(1);

      expect(await launch(['migrate']).ended).toBe(0);
      expect(await launch(['migrate', '--status']).ended).toBe(0);
      await start();
      expect(bootstrapFile()['admin_api_key']).toMatch(/^gw_admin_/);
    });
  });

  describe('in a folder that is made', () => {
    beforeEach(() => execFileSync('cp', ['-a', `${madeFolder}/.`, dataDir]));

    it('shows no secret in the environment or the command line of any process, and closes stdin to its children', async () => {
      const service = await start();
      const { master_key, key_pepper } = JSON.parse(
        readFileSync(join(dataDir, 'secrets.json'), 'utf8'),
      ) as Record<string, string>;
      const password = readFileSync(join(dataDir, 'postgres', 'password'), 'utf8');

      const shown = service.family.flatMap(({ pid }) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        } catch (error) {
          // Servers of PostgreSQL's connections come and go.
          if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
          throw error;
        }
      });

      expect(shown.length).toBeGreaterThan(3);
      for (const secret of [master_key, key_pepper, password]) expect(shown.join()).not.toContain(secret);
    });

    it('reports a second start on the folder in one sentence, and leaves the first alone', async () => {
      await start();
      const second = launch(['start'], { GATEHOUSE_PORT: String(await freePort()) });

      expect(await second.ended).toBe(1);
      expect(second.output.trim().split('\n')).toEqual([
        expect.stringContaining('already runs on the data folder'),
      ]);
      expect(await ask()).toContain('"pid"');
    });

    it('refuses keys that are not those of the database', async () => {
      const first = await start();
      first.child.kill('SIGINT');
      await first.ended;

      const other = Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString('base64');
      const service = launch(['start'], { GATEHOUSE_KEY_PEPPER: other });

      expect(await service.ended).toBe(1);
      expect(service.output).toContain('was set up with another GATEHOUSE_KEY_PEPPER');
      expect(service.output).not.toMatch(/^\s+at /m);
    });

    it('replaces a gateway, a worker and a database that were killed', async () => {
      const service = await start();
      const victims = [service.of('main.js')[0] ?? 0, service.of('worker.js')[0] ?? 0, service.postmaster];
      for (const pid of victims) process.kill(pid, 'SIGKILL');

      await eventually(
        () =>
          service.of('main.js').length === 2 &&
          service.of('worker.js').length === 1 &&
          service.postmaster > 0,
        { what: 'the replacements' },
      );

      for (const pid of victims) expect(isAlive(pid)).toBe(false);
      await eventually(
        async () => (await ask('/metrics')).includes('gatehouse_process_restarts_total{process="gateway"} 1'),
        {
          what: 'the count of restarts',
        },
      );
    });

    it('keeps serving while its database does not start again, and brings it back when it can', async () => {
      const service = await start();
      const gateways = service.of('main.js');
      const global = join(dataDir, 'postgres', 'global');
      renameSync(global, `${global}.away`);
      process.kill(service.postmaster, 'SIGKILL');

      await sleep(6_000);
      expect(service.of('main.js')).toEqual(gateways);
      expect(await ask()).toContain('"pid"');

      renameSync(`${global}.away`, global);
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
      await eventually(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').includes('ready'), {
        what: 'the database to be back',
      });
      expect(service.of('main.js')).toEqual(gateways);
      service.child.kill('SIGINT');
      expect(await service.ended).toBe(0);
    });

    it('merges the metrics of all processes, and does not wait for one that is silent', async () => {
      await start();
      for (let request = 0; request < 6; request++) await ask();

      const text = await ask('/metrics');

      expect(text).toContain('fixture_requests_total 7');
    });

    it('waits on SIGTERM for what the gateways still do, and stops the database in order', async () => {
      const service = await start({ FIXTURE_DRAIN_MS: '1500' });
      const began = performance.now();

      service.child.kill('SIGTERM');

      expect(await service.ended).toBe(0);
      expect(performance.now() - began).toBeGreaterThan(1_400);
      expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
      expect(existsSync(join(dataDir, 'run'))).toBe(false);
      expect(existsSync(join(dataDir, 'gatehouse.lock'))).toBe(false);
    });

    it('leaves out the delay for Ctrl-C, and shortens a drain that is under way', async () => {
      const patient = await start({ FIXTURE_DRAIN_MS: String(LONG_DRAIN_MS) });
      const family = patient.family.map(({ pid }) => pid);
      const began = performance.now();
      // Signals that come together are one wish, and a busy process hears late: so they come again.
      const asking = setInterval(() => patient.child.kill('SIGTERM'), 1_300);
      patient.child.kill('SIGTERM');

      expect(await patient.ended).toBe(0);
      clearInterval(asking);
      expect(performance.now() - began).toBeLessThan(LONG_DRAIN_MS);
      expect(family.filter(isAlive)).toEqual([]);

      const quick = await start({ FIXTURE_DRAIN_MS: String(LONG_DRAIN_MS) });
      quick.child.kill('SIGINT');
      const asked = performance.now();
      expect(await quick.ended).toBe(0);
      expect(performance.now() - asked).toBeLessThan(LONG_DRAIN_MS);
    }, 180_000);

    it('restarts nothing when the whole group is stopped', async () => {
      const service = await start({ FIXTURE_DRAIN_MS: '800' });
      for (const pid of [
        service.child.pid ?? 0,
        ...service.of('administration.js'),
        ...service.of('worker.js'),
      ])
        process.kill(pid, 'SIGTERM');

      expect(await service.ended).toBe(0);
      expect(service.output.match(/^.*Starting another.*$/m)).toBeNull();
    });

    it('says nothing to a process that is not listening yet', async () => {
      const service = await start({ FIXTURE_LOADING_MS: '1500' });

      expect(service.of('main.js')).toHaveLength(2);
      expect(await ask()).toContain('"pid"');
    });

    it('leaves no process behind when it is killed, and starts again with all it had', async () => {
      const service = await start();
      const made = bootstrapFile();
      const family = service.family.map(({ pid }) => pid);
      service.child.kill('SIGKILL');

      const next = await start();

      expect(family.length).toBeGreaterThan(3);
      await eventually(() => !family.some(isAlive), { what: 'the first family to end' });
      expect(bootstrapFile()).toEqual(made);
      expect(next.output).not.toContain(made['admin_api_key']);
    });

    it('serves no requests as a worker', async () => {
      const service = await start({ GATEHOUSE_ROLE: 'worker' });

      expect(service.of('main.js')).toEqual([]);
      expect(service.of('worker.js')).toHaveLength(1);
    });
  });

  describe('as a worker', () => {
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    const keys = {
      GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
      GATEHOUSE_KEY_PEPPER: randomBytes(32).toString('base64'),
    };
    const outside = () => ({ ...keys, DATABASE_URL: database.url });
    const aWorker = async (env: Readonly<Record<string, string>> = {}) =>
      launch(['start'], {
        ...outside(),
        GATEHOUSE_ROLE: 'worker',
        GATEHOUSE_DATA_DIR: join(dataDir, 'worker'),
        GATEHOUSE_PORT: String(await freePort()),
        ...env,
      });
    const untilWaiting = (worker: Launched) =>
      eventually(() => worker.output.includes('Waiting for an API node'), { what: worker.output });

    beforeEach(async () => void (database = await emptyDatabase()));
    afterEach(() => database.drop());

    it('makes no keys when it starts first, says what it waits for, and works once an API node has made them', async () => {
      const worker = await aWorker();
      await untilWaiting(worker);
      await sleep(1_500);
      expect(await organizations(database.url)).toBe(0);
      expect(worker.output).not.toContain('is ready');

      const api = await start({ ...outside(), GATEHOUSE_ROLE: 'api' });
      await worker.untilReady();

      expect(bootstrapFile()['base_url']).toBe(`http://127.0.0.1:${port}`);
      expect(api.output).toContain(join(dataDir, 'bootstrap.json'));
      expect(existsSync(join(dataDir, 'worker', 'bootstrap.json'))).toBe(false);
    });

    it('leaves the address of an earlier API node in its folder alone', async () => {
      const api = await start({ ...outside(), GATEHOUSE_ROLE: 'api' });
      const made = bootstrapFile();
      api.child.kill('SIGINT');
      await api.ended;

      const worker = await aWorker({ GATEHOUSE_DATA_DIR: dataDir });
      await worker.untilReady();

      expect(bootstrapFile()).toEqual(made);
    });

    it('refuses the keys of another installation although it waited for this one', async () => {
      const worker = await aWorker({ GATEHOUSE_KEY_PEPPER: randomBytes(32).toString('base64') });
      await untilWaiting(worker);
      await start({ ...outside(), GATEHOUSE_ROLE: 'api' });

      expect(await worker.ended).toBe(1);
      expect(worker.output).toContain('was set up with another GATEHOUSE_KEY_PEPPER');
    });

    it('does not wait in an empty folder with a database of its own, which no API node could prepare', async () => {
      const worker = await aWorker({ DATABASE_URL: '' });

      expect(await worker.ended).toBe(1);
      expect(worker.output).toContain('Set DATABASE_URL to the database that the API nodes use');
    });
  });
});
