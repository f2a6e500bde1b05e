import { z } from 'zod';
import { isPossibleUsage, MOST_TOKENS } from '../../common/contracts/usage.js';
import { AppError } from '../../common/errors/app-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { readBySchema, type SchemaMistake } from '../../common/json/read-by-schema.js';
import { placeOfTooLarge } from './largest-numbers.js';
import type { UnpricedCall } from './log-ingestion.service.js';
import { providerOfUrl, usageOfReportedBody } from './reported-usage.js';
import { invalidField, fieldPath, unknownField } from '../../common/errors/field-errors.js';

const MOST = 500;
const LONGEST = 256;
const LONGEST_VALUE = 1_024;
const MOST_KEYS = 32;
const LONGEST_CALL_MS = 24 * 60 * 60_000;

const text = z.string().max(LONGEST);
const headers = z.record(text, z.union([z.string(), z.number(), z.boolean()])).optional();
const body = z.record(z.string(), z.unknown());

/**
 * Impossible counts are refused: stored, they would be charged and summed. Counts that are added up,
 * such as those of cached tokens beside the input, may be too large together only.
 */
const answer = body.superRefine((reported, context) => {
  const { usage, usageMetadata } = reported;
  const place = placeOfTooLarge({ usage, usageMetadata });
  const sum = place ? null : usageOfReportedBody(reported);
  if (place)
    context.addIssue({ code: 'custom', path: [...place], message: `it must be at most ${MOST_TOKENS}` });
  if (sum && !isPossibleUsage(sum))
    context.addIssue({
      code: 'custom',
      path: [usage === undefined ? 'usageMetadata' : 'usage'],
      message: `its total of input or output tokens must be at most ${MOST_TOKENS}`,
    });
});

/** https://portkey.ai/docs/api-reference/inference-api/logs/insert-a-log, plus the provider and the streaming mode. */
const customLog = z.strictObject({
  request: z.strictObject({
    url: z.string().min(1).max(8_192),
    provider: text.optional(),
    method: z
      .string()
      .regex(/^[A-Za-z]{1,16}$/, 'it must be an HTTP method')
      .optional(),
    headers,
    body,
  }),
  response: z.strictObject({
    status: z.int().min(100).max(599).optional(),
    headers,
    body: answer,
    response_time: z.number().min(0).max(LONGEST_CALL_MS).optional(),
    responseTime: z.number().min(0).max(LONGEST_CALL_MS).optional(),
    streamingMode: z.boolean().optional(),
  }),
  metadata: z
    .record(text, z.union([z.string().max(LONGEST_VALUE), z.number(), z.boolean()]))
    .refine((value) => Object.keys(value).length <= MOST_KEYS, `it has more than ${MOST_KEYS} keys`)
    .optional(),
});

type CustomLog = z.infer<typeof customLog>;

/** Reads one log or a list of them; the compatible SDK sends a list as an object with the keys 0, 1, 2 and so on. */
export function customLogsIn(value: unknown, now: number): readonly UnpricedCall[] {
  const list = listIn(value);
  if (list.length === 0 || list.length > MOST)
    throw new AppError('invalid_request', { detail: `Send 1 to ${MOST} logs per request.` });
  return list.map((each, at) => {
    const { data, mistakes } = readBySchema(customLog, each);
    if (data) return callOf(data, now);
    throw refusalOf(mistakes[0], list.length > 1 ? at : null);
  });
}

/** `at` is the index in the list, if several were sent. */
function refusalOf({ path, rule, isUnknown }: SchemaMistake, at: number | null): AppError {
  const place = fieldPath([...(at === null ? [] : [at]), ...path]).slice(0, LONGEST);
  if (isUnknown) return unknownField(place);
  if (place === '') return new AppError('invalid_request', { detail: `A log is invalid: ${rule}.` });
  return invalidField(place, rule);
}

function listIn(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given as readonly unknown[];
  const entries: [string, unknown][] = Object.entries(given as object);
  return entries.length > 0 && entries.every(([name], at) => name === String(at))
    ? entries.map(([, value]) => value)
    : [given];
}

const OF_TRACE = ['trace_id', 'span_id', 'parent_span_id', 'span_name'] as const;

function callOf({ request, response, metadata = {} }: CustomLog, now: number): UnpricedCall {
  const id = uuidV7(now);
  const free = Object.entries(metadata).filter(([name]) => !(OF_TRACE as readonly string[]).includes(name));
  return {
    id,
    source: 'api',
    startedAt: now,
    ...traceOf(metadata, id),
    ...requestOf(request),
    ...responseOf(response),
    streamed: response.streamingMode ?? request.body['stream'] === true,
    metadata: free.length === 0 ? null : textsOf(Object.fromEntries(free)),
  };
}

/** Without a trace id, or with an empty one, it is a trace of its own. */
function traceOf(metadata: NonNullable<CustomLog['metadata']>, id: string) {
  const [traceId, spanId, parentSpanId, spanName] = OF_TRACE.map(
    (name) => String(metadata[name] ?? '').slice(0, LONGEST) || null,
  ) as [string | null, string | null, string | null, string | null];
  return { traceId: traceId ?? id, spanId, parentSpanId, spanName };
}

const requestOf = ({ method, url, provider, body: sent, headers: names }: CustomLog['request']) => ({
  method: (method ?? 'POST').toUpperCase(),
  url,
  provider: provider ?? providerOfUrl(url),
  model: textOf(sent['model']),
  request: { headers: textsOf(names ?? {}), body: sent },
});

const responseOf = ({
  response_time,
  responseTime,
  status,
  body: reported,
  headers: names,
}: CustomLog['response']) => ({
  durationMs: Math.round(response_time ?? responseTime ?? 0),
  responseModel: textOf(reported['model']) ?? textOf(reported['modelVersion']),
  status: status ?? 200,
  errorCode: null,
  usage: usageOfReportedBody(reported),
  reportedCostNanoUsd: null,
  response: { headers: textsOf(names ?? {}), body: reported },
});

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.slice(0, LONGEST) : null;

const textsOf = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
