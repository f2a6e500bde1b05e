import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs/light.js';
import { type OtlpSpan, spansOfProtobuf } from '../../../src/admin/log-ingestion/otlp/trace-message.js';

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto */
const { root } = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceMetrics: { rule: 'repeated', type: 'ResourceMetrics', id: 1 } } },
    ResourceMetrics: { fields: { scopeMetrics: { rule: 'repeated', type: 'ScopeMetrics', id: 2 } } },
    ScopeMetrics: { fields: { metrics: { rule: 'repeated', type: 'Metric', id: 2 } } },
    Metric: {
      fields: {
        name: { type: 'string', id: 1 },
        unit: { type: 'string', id: 3 },
        gauge: { type: 'Points', id: 5 },
        sum: { type: 'Points', id: 7 },
        histogram: { type: 'Points', id: 9 },
      },
    },
    Points: { fields: { dataPoints: { rule: 'repeated', type: 'Point', id: 1 } } },
    Point: {
      fields: {
        count: { type: 'fixed64', id: 4 },
        sum: { type: 'double', id: 5 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
      },
    },
    LogRequest: { fields: { resourceLogs: { rule: 'repeated', type: 'ResourceLogs', id: 1 } } },
    ResourceLogs: { fields: { scopeLogs: { rule: 'repeated', type: 'ScopeLogs', id: 2 } } },
    ScopeLogs: { fields: { logRecords: { rule: 'repeated', type: 'LogRecord', id: 2 } } },
    LogRecord: {
      fields: {
        severityText: { type: 'string', id: 3 },
        body: { type: 'AnyValue', id: 5 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 6 },
        traceId: { type: 'bytes', id: 9 },
        spanId: { type: 'bytes', id: 10 },
      },
    },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    AnyValue: { fields: { stringValue: { type: 'string', id: 1 }, intValue: { type: 'int64', id: 3 } } },
  },
});

export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: number;
      readonly sum: number;
      readonly attributes: readonly {
        readonly key: string;
        readonly value: { readonly stringValue?: string };
      }[];
    }[];
  };
}

/** Ids are hex, and empty where there are none. */
export interface LogRecord {
  readonly severityText: string;
  readonly body: { readonly stringValue?: string };
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  readonly traceId?: string;
  readonly spanId?: string;
}

export interface Export {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An OpenTelemetry collector that takes protobuf over HTTP. */
export class Collector {
  readonly exports: Export[] = [];
  /** Answered instead of 200, the next times. */
  readonly nextStatus: number[] = [];

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async start(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const status = collector.nextStatus.shift() ?? 200;
        const { url: path = '', headers } = request;
        if (status === 200) collector.exports.push({ path, headers, body: Buffer.concat(parts) });
        response.writeHead(status).end(status === 200 ? undefined : 'canary of the answer');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get spans(): OtlpSpan[] {
    return this.exports
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => spansOfProtobuf(body));
  }

  /** Of the last export. */
  get metrics(): Metric[] {
    const last = this.exports.filter(({ path }) => path === '/v1/metrics').at(-1);
    const type = root.lookupType('Request');
    const read = type.toObject(type.decode(last?.body ?? Buffer.alloc(0)), { longs: Number }) as {
      resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
    };
    return (read.resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
      scopeMetrics.flatMap(({ metrics }) => metrics),
    );
  }

  get logs(): LogRecord[] {
    const type = root.lookupType('LogRequest');
    return this.exports
      .filter(({ path }) => path === '/v1/logs')
      .flatMap(({ body }) => {
        const read = type.toObject(type.decode(body)) as {
          resourceLogs?: {
            scopeLogs: { logRecords: (LogRecord & { traceId?: Buffer; spanId?: Buffer })[] }[];
          }[];
        };
        return (read.resourceLogs ?? []).flatMap(({ scopeLogs }) =>
          scopeLogs.flatMap(({ logRecords }) =>
            logRecords.map((record) => ({
              ...record,
              traceId: Buffer.from(record.traceId ?? []).toString('hex'),
              spanId: Buffer.from(record.spanId ?? []).toString('hex'),
            })),
          ),
        );
      });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
