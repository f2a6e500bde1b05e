import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { CompiledSource } from './compiled-source.js';

/** A writer process: appends exchanges as fast as it can and says on its output what a caller was told. */
const WRITER = `
import { pino } from 'pino';
import { writeSync } from 'node:fs';
import { SpoolLogSink } from './adapters/spool-log-sink.js';
import { uuidV7 } from './common/ids/uuid-v7.js';

const [spool, paceMs, organisation] = process.argv.slice(2);
const sink = new SpoolLogSink({ spool, logger: pino({ level: 'silent' }), reserveBytes: 256 * 1024, segmentBytes: 256 * 1024 });
const say = (line) => writeSync(1, line + '\\n');
const body = (text) => ({ chunks: [Buffer.from(text)], bytes: text.length, truncated: false, content_type: 'application/json', content_encoding: null });
const bodies = { request: body('q'.repeat(1024)), response: body('a'.repeat(1024)) };
const usage = { input_tokens: 1, output_tokens: 1 };

let underWay = 0;

function exchange(n) {
  underWay += 1;
  const created_at = Date.now();
  const opened = { id: uuidV7(created_at), created_at, organisation_id: organisation, workspace_id: organisation, api_key_id: organisation,
    user_id: null, trace_id: 'crash', span_id: null, parent_span_id: null, span_name: null, method: 'POST', path: '/v1/chat/completions',
    endpoint: 'chat-completions', provider: 'openai', virtual_key: null, virtual_key_id: null, model: 'm', streamed: false, metadata: null };
  sink.open(opened);
  sink.whenWritten(() => {
    say('O ' + opened.id);
    setTimeout(() => end(opened), n % 50 === 0 ? 1500 : Math.random() * 20);
  });
}

function end(opened) {
  const attempt = { attempt: 0, provider: 'openai', virtual_key_id: null, origin: 'https://api.openai.com:443', started_at: opened.created_at,
    first_byte_ms: 1, duration_ms: 2, status: 200, error_code: null, usage, cost_nano_usd: 5 };
  sink.close({ ...opened, ending: 'completed', status: 200, error_code: null, error_source: null, duration_ms: 2, first_token_ms: null,
    overhead_us: 1, request_bytes: 1024, response_bytes: 1024, response_model: 'm', usage, usage_source: 'provider', cost_nano_usd: 5,
    attempts: [attempt], countable: null, request_headers: [], response_headers: [] }, bodies);
  underWay -= 1;
  sink.whenWritten(() => say('C ' + opened.id));
}

let n = 0;
const timer = setInterval(() => { for (let k = 0; k < 4; k++) exchange(++n); }, Number(paceMs));
// As the gateway does: what has begun ends before the process does.
process.on('SIGTERM', () => {
  clearInterval(timer);
  const draining = setInterval(async () => {
    if (underWay > 0) return;
    clearInterval(draining);
    await sink.shutdown();
    process.exit(0);
  }, 10);
});
say('ready');
`;

/** A shipper process. Two seconds long it has no file descriptor left when it receives SIGUSR2. */
const SHIPPER = `
import pg from 'pg';
import { pino } from 'pino';
import { closeSync, openSync, writeSync } from 'node:fs';
import { Shipper } from './jobs/shipping/shipper.js';

const [spool, url] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 2000 });
pool.on('error', () => undefined);
const shipper = new Shipper({ pool, spool, logger: pino({ level: 'silent' }), batchQueue: { enqueue: async () => undefined },
  counter: { countTokens: (text) => text.length, costOf: () => 1 } });
shipper.start();
process.on('SIGTERM', async () => { await shipper.stop(); await pool.end(); process.exit(0); });
process.on('SIGUSR2', () => {
  const held = [];
  // Again and again: what the round under way closes meanwhile would be free.
  const take = () => { try { for (;;) held.push(openSync('/dev/null')); } catch { return; } };
  take();
  const taking = setInterval(take, 1);
  setTimeout(() => writeSync(1, 'exhausted\\n'), 200);
  setTimeout(() => { clearInterval(taking); held.forEach((descriptor) => closeSync(descriptor)); }, 2500);
});
writeSync(1, 'ready\\n');
`;

/** What callers were told: ids whose beginning, and whose end, is safe. */
export interface Ledger {
  readonly opened: Set<string>;
  readonly closed: Set<string>;
}

export const emptyLedger = (): Ledger => ({ opened: new Set(), closed: new Set() });

export class SpoolProcesses {
  private readonly writerProgram: string;
  private readonly shipperProgram: string;
  private readonly children = new Set<ChildProcess>();

  constructor(source: CompiledSource) {
    this.writerProgram = source.program('test-writer.js', WRITER);
    this.shipperProgram = source.program('test-shipper.js', SHIPPER);
  }

  /** `paceMs`: four exchanges begin every so many milliseconds. */
  writer(spool: string, ledger: Ledger, { paceMs, organisation }: { paceMs: number; organisation: string }) {
    return this.run([this.writerProgram, spool, String(paceMs), organisation], (line) => {
      if (line.startsWith('O ')) ledger.opened.add(line.slice(2));
      if (line.startsWith('C ')) ledger.closed.add(line.slice(2));
    });
  }

  shipper(spool: string, url: string) {
    return this.run([this.shipperProgram, spool, url], () => undefined);
  }

  /** A shipper that has few file descriptors, and no right to read what its user may not read, root included. */
  confinedShipper(spool: string, url: string, onLine: (line: string) => void = () => undefined) {
    const isRoot = process.getuid?.() === 0;
    const asUser = isRoot ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--'] : [];
    const confine = ['/bin/sh', '-c', 'ulimit -n 256; exec "$@"', 'sh', ...asUser];
    return this.run([this.shipperProgram, spool, url], onLine, confine);
  }

  killAll(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }

  private async run(
    args: readonly string[],
    onLine: (line: string) => void,
    prefix: readonly string[] = [],
  ): Promise<RunningProcess> {
    const [command, ...rest] = [...prefix, process.execPath, ...args];
    const child = spawn(command as string, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.children.add(child);
    const lines = createInterface({ input: child.stdout });
    const isReady = new Promise<void>((resolve) =>
      lines.on('line', (line) => (line === 'ready' ? resolve() : onLine(line))),
    );
    const isOver = Promise.all([
      new Promise((resolve) => child.once('exit', resolve)),
      new Promise((resolve) => lines.once('close', resolve)),
    ]).then(() => void this.children.delete(child));
    await Promise.race([isReady, isOver]);
    return {
      pid: child.pid ?? 0,
      end: (signal) => {
        child.kill(signal);
        return isOver;
      },
    };
  }
}

export interface RunningProcess {
  readonly pid: number;
  /** Sends the signal and waits until the process is gone and its output read. */
  end(signal: NodeJS.Signals): Promise<void>;
}
