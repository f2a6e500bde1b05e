import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aRecord, anOpened } from '../../../test/support/exchanges.js';
import type { AttemptRecord, OpenedExchange, RequestLogRecord } from '../record.js';
import {
  type BodyFacts,
  closedText,
  idOfOpened,
  openedText,
  openedTextWith,
  readClosed,
  readOpened,
} from './frame-values.js';

const text = fc.string({ unit: 'binary' });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => ({ value }));
const number = fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const media = fc.record(
  {
    web_searches: fc.nat(),
    search_units: fc.nat(),
    input_characters: fc.nat(),
    audio_output_ms: fc.nat(),
    video_output_ms: fc.nat(),
    image_count: fc.nat(),
    image_size: maybe(text),
    image_quality: maybe(text),
  },
  { requiredKeys: [] },
);
/** Frames of older releases lack the newer fields. */
const usage = fc
  .tuple(fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }), media)
  .map(([tokens, units]) => ({ ...tokens, ...units }));
const countable = fc.record({ input: text, output: text });
const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values);

/** Every field, rare or not: a new field that is not written does not compile here, or is missing after reading. */
const everyOpened: Every<Omit<OpenedExchange, 'attempts_so_far'>> = {
  id: fc.oneof(fc.uuid(), text),
  created_at: fc.nat(),
  organisation_id: fc.uuid(),
  workspace_id: maybe(fc.uuid()),
  api_key_id: maybe(fc.uuid()),
  user_id: maybe(text),
  trace_id: text,
  span_id: maybe(text),
  parent_span_id: maybe(text),
  span_name: maybe(text),
  method: text,
  path: text,
  endpoint: maybe(text),
  provider: maybe(text),
  virtual_key: maybe(text),
  virtual_key_id: maybe(text),
  model: maybe(text),
  streamed: fc.boolean(),
  metadata: maybe(fc.dictionary(text, text)),
  prompt_slug: text,
};

const everyAttempt: Every<AttemptRecord> = {
  attempt: fc.nat(),
  option_path: text,
  provider: text,
  virtual_key_id: maybe(text),
  origin: text,
  started_at: fc.nat(),
  first_byte_ms: maybe(number),
  duration_ms: number,
  status: maybe(fc.nat()),
  error_code: maybe(text),
  usage: maybe(usage),
  cost_nano_usd: maybe(fc.nat()),
  price: fc.record({
    source: anyOf(['list', 'agreed'] as const),
    model: text,
    input: fc.nat(),
    output: fc.nat(),
  }),
  charges: fc.array(
    fc.record({ counter: text, measure: anyOf(['cost', 'tokens'] as const), holder: text, leased: fc.nat() }),
  ),
  isSideCall: fc.constant(true as const),
  countable: fc.record({ input: text, output: text, model: maybe(text) }),
  isEstimated: fc.constant(true as const),
};

const everyRecord: Every<RequestLogRecord> = {
  ...everyOpened,
  config_id: maybe(text),
  config_version_id: maybe(text),
  option_path: text,
  decisions: maybe(fc.array(text)),
  ending: anyOf(['completed', 'refused', 'gateway_crashed'] as const),
  status: fc.nat(),
  error_code: maybe(text),
  error_source: maybe(anyOf(['gateway', 'provider'] as const)),
  duration_ms: number,
  first_token_ms: maybe(number),
  overhead_us: fc.nat(),
  request_bytes: fc.nat(),
  response_bytes: fc.nat(),
  response_model: maybe(text),
  usage: maybe(usage),
  usage_source: anyOf(['provider', 'counted', 'none'] as const),
  cost_nano_usd: maybe(fc.nat()),
  cache_status: anyOf(['HIT', 'MISS'] as const),
  cache_score: number,
  saved_nano_usd: fc.nat(),
  attempts: fc.array(someOf(everyAttempt, ['price', 'charges', 'isSideCall', 'countable', 'isEstimated'])),
  countable: maybe(countable),
  hook_results: maybe(json),
  source: anyOf(['api', 'otlp'] as const),
  dropped_parameters: fc.array(text),
  service_tier: text,
  request_headers: fc.array(text),
  response_headers: fc.array(text),
};

const RARE = [
  'prompt_slug',
  'cache_status',
  'cache_score',
  'saved_nano_usd',
  'source',
  'dropped_parameters',
  'service_tier',
] as const;
const anyOpened = someOf(everyOpened, ['prompt_slug']);
const anyRecord = someOf(everyRecord, RARE);
const anyFacts = maybe(
  fc.record<BodyFacts>({
    bytes: fc.nat(),
    truncated: fc.boolean(),
    content_type: maybe(text),
    content_encoding: maybe(text),
  }),
);

describe('the JSON of a frame', () => {
  it('gives back an exchange that began', () => {
    fc.assert(
      fc.property(anyOpened, (opened) => {
        const json = Buffer.from(openedText(opened));

        expect(readOpened(json)).toEqual(asJson(opened));
        expect(idOfOpened(json)).toBe(opened.id);
      }),
    );
  });

  it('gives back the attempts that are added to an exchange under way', () => {
    const attempts = someOf(everyAttempt, ['price', 'charges', 'isSideCall', 'countable', 'isEstimated']);
    fc.assert(
      fc.property(anyOpened, fc.array(attempts, { minLength: 1 }), (began, added) => {
        const json = Buffer.from(openedTextWith(openedText(began), added));

        expect(readOpened(json)).toEqual(asJson({ ...began, attempts_so_far: added }));
        // The shipper writes it this way when it deletes the segment.
        expect(openedText(readOpened(json))).toBe(json.toString());
        expect(idOfOpened(json)).toBe(began.id);
      }),
    );
  });

  it('returns a closed exchange, with what it was opened with or without', () => {
    fc.assert(
      fc.property(anyRecord, anyFacts, anyFacts, fc.boolean(), (record, request, response, wasOpened) => {
        const closed = { record, request, response };
        const text = closedText(closed, wasOpened ? openedText(record) : null);

        expect(readClosed(Buffer.from(text))).toEqual(asJson(closed));
      }),
    );
  });

  it('has the final target, model and streaming flag', () => {
    const opened = anOpened({
      provider: 'openai',
      virtual_key: 'a',
      virtual_key_id: 'a-id',
      model: 'm',
      streamed: false,
    });
    const record = aRecord({
      ...opened,
      provider: 'groq',
      virtual_key: 'b',
      virtual_key_id: null,
      model: null,
      streamed: true,
    });
    const text = closedText({ record, request: null, response: null }, openedText(opened));

    expect(readClosed(Buffer.from(text)).record).toMatchObject({
      id: opened.id,
      provider: 'groq',
      virtual_key: 'b',
      virtual_key_id: null,
      model: null,
      streamed: true,
    });
  });

  it('is read when an older release wrote it, with names', () => {
    const opened = anOpened();
    const closed = { record: aRecord(opened), request: null, response: null };

    expect(readOpened(Buffer.from(JSON.stringify(opened)))).toEqual(opened);
    expect(idOfOpened(Buffer.from(JSON.stringify(opened)))).toBe(opened.id);
    expect(readClosed(Buffer.from(JSON.stringify(closed)))).toEqual(closed);
  });
});

type Every<T> = { readonly [Name in keyof Required<T>]: fc.Arbitrary<Exclude<T[Name], undefined>> };

/** A value with every field, or without a random choice of the rare ones. */
function someOf<T>(every: Every<T>, rare: readonly (keyof T)[]): fc.Arbitrary<T> {
  return fc.tuple(fc.record(every as Every<object>), fc.subarray([...rare])).map(([whole, without]) => {
    const left = Object.entries(whole).filter(([name]) => !without.includes(name as keyof T));
    return Object.fromEntries(left) as T;
  });
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
