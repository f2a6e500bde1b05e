import protobuf from 'protobufjs/light.js';
import { AppError } from '../../../common/errors/app-error.js';

/** An attribute value in OTLP's JSON format. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  readonly bytesValue?: string;
}

export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

/** Ids are hex, times are nanoseconds since the epoch in digits. */
export interface OtlpSpan {
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly startTimeUnixNano?: string | number;
  readonly endTimeUnixNano?: string | number;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name?: string; readonly attributes?: readonly KeyValue[] }[];
  readonly status?: { readonly code?: number | string; readonly message?: string };
}

interface TraceMessage {
  readonly resourceSpans?: readonly {
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

/**
 * The part of the messages that is read; protobuf skips the rest. Ids are bytes there and hex in JSON.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
const { root } = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } } },
    ResourceSpans: { fields: { scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 } } },
    ScopeSpans: { fields: { spans: { rule: 'repeated', type: 'Span', id: 2 } } },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        parentSpanId: { type: 'bytes', id: 4 },
        name: { type: 'string', id: 5 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
        events: { rule: 'repeated', type: 'Event', id: 11 },
        status: { type: 'Status', id: 15 },
      },
    },
    Event: {
      fields: {
        name: { type: 'string', id: 2 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 3 },
      },
    },
    Status: { fields: { message: { type: 'string', id: 2 }, code: { type: 'int32', id: 3 } } },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    AnyValue: {
      oneofs: {
        value: {
          oneof: [
            'stringValue',
            'boolValue',
            'intValue',
            'doubleValue',
            'arrayValue',
            'kvlistValue',
            'bytesValue',
          ],
        },
      },
      fields: {
        stringValue: { type: 'string', id: 1 },
        boolValue: { type: 'bool', id: 2 },
        intValue: { type: 'int64', id: 3 },
        doubleValue: { type: 'double', id: 4 },
        arrayValue: { type: 'ArrayValue', id: 5 },
        kvlistValue: { type: 'KeyValueList', id: 6 },
        bytesValue: { type: 'bytes', id: 7 },
      },
    },
    ArrayValue: { fields: { values: { rule: 'repeated', type: 'AnyValue', id: 1 } } },
    KeyValueList: { fields: { values: { rule: 'repeated', type: 'KeyValue', id: 1 } } },
    PartialSuccess: {
      fields: { rejectedSpans: { type: 'int64', id: 1 }, errorMessage: { type: 'string', id: 2 } },
    },
    Response: { fields: { partialSuccess: { type: 'PartialSuccess', id: 1 } } },
  },
});

const REQUEST = root.lookupType('Request');
const RESPONSE = root.lookupType('Response');
const AS_JSON = { longs: String, bytes: String, defaults: false } as const;

/** The spans of a protobuf request, in the JSON format. Refuses invalid messages. */
export function spansOfProtobuf(bytes: Buffer): readonly OtlpSpan[] {
  try {
    const message = REQUEST.toObject(REQUEST.decode(bytes), AS_JSON) as TraceMessage;
    return spansIn(message).map((span) => ({
      ...span,
      ...(span.traceId === undefined ? {} : { traceId: hexOf(span.traceId) }),
      ...(span.spanId === undefined ? {} : { spanId: hexOf(span.spanId) }),
      ...(span.parentSpanId === undefined ? {} : { parentSpanId: hexOf(span.parentSpanId) }),
    }));
  } catch {
    throw new AppError('invalid_request', { detail: 'The body is not an OTLP trace message.' });
  }
}

/** The spans of a JSON request. Misplaced values are ignored. */
export function spansIn(message: unknown): readonly OtlpSpan[] {
  const { resourceSpans } = message as TraceMessage;
  return list(resourceSpans)
    .flatMap((each) => list(each?.scopeSpans))
    .flatMap((each) => list(each?.spans));
}

export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** The response: empty, or with the rejected spans. */
export function protobufAnswer(partialSuccess: PartialSuccess | null): Buffer {
  const answer = RESPONSE.fromObject(partialSuccess ? { partialSuccess } : {});
  return Buffer.from(RESPONSE.encode(answer).finish());
}

const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

const list = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [];
