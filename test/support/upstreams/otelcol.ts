import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OtlpSpan } from '../../../src/admin/log-ingestion/otlp/trace-message.js';
import { freePort } from '../ports.js';
import { eventually } from '../waiting.js';
import type { LogRecord, Metric } from './collector.js';

interface ExportedLine {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
  }[];
  readonly resourceLogs?: readonly {
    readonly scopeLogs: readonly { readonly logRecords: readonly LogRecord[] }[];
  }[];
}

/** An OpenTelemetry Collector with its OTLP receiver and its file exporter, from a binary. */
export class Otelcol {
  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(binary: string): Promise<Otelcol> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-otelcol-'));
    const port = await freePort();
    const pipeline = { receivers: ['otlp'], exporters: ['file'] };
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { file: { path: join(folder, 'out.jsonl'), flush_interval: '100ms' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline },
      },
    };
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify(config));
    const child = spawn(binary, ['--config', path], { stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}`;
    await eventually(
      () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      { withinMs: 10_000, what: 'the collector' },
    );
    return new Otelcol(url, folder, child);
  }

  get spans(): readonly OtlpSpan[] {
    return this.lines
      .flatMap(({ resourceSpans = [] }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  get metrics(): readonly Metric[] {
    return this.lines
      .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  }

  get logs(): readonly LogRecord[] {
    return this.lines
      .flatMap(({ resourceLogs = [] }) => resourceLogs)
      .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get lines(): ExportedLine[] {
    const path = join(this.folder, 'out.jsonl');
    if (!existsSync(path)) return [];
    const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line) as ExportedLine);
  }
}
