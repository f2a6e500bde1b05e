import { readdirSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decoderFor } from '../../src/gateway/framing/index.js';
import { bedrock } from '../../src/providers/dialects/bedrock/index.js';
import type { EndpointId, Json } from '../../src/providers/endpoint.js';
import type { Context, HubError, Translator } from '../../src/providers/translation.js';

/** A message of a stream: an event, or an exception. */
type Message = { readonly data: Json } & ({ readonly event: string } | { readonly exception: string });

/** One exchange after the published example on the page that it names; each half of it is there where it is looked at. */
interface Recording {
  readonly title: string;
  readonly source: string;
  readonly endpoint: EndpointId;
  readonly model: string;
  readonly isStreamed?: boolean;
  readonly isStrict?: boolean;
  readonly hub?: Json;
  readonly path?: string;
  readonly request?: Json;
  readonly answer?: Json;
  readonly translated?: Json;
  readonly events?: readonly Message[];
  readonly chunks?: readonly Json[];
  readonly isDone?: boolean;
  readonly error?: HubError;
}

const FOLDER = new URL('recordings/bedrock/', import.meta.url);
const recordings = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Recording,
);
const having = (field: keyof Recording) => recordings.filter((recording) => field in recording);

const translatorOf = ({ endpoint }: Recording) => bedrock.translators?.[endpoint] as Translator;

const contextOf = ({ model, isStreamed = false, isStrict = true }: Recording): Context => ({
  id: 'exchange-1',
  created: 1_700_000_000,
  model,
  isStreamed,
  fields: { 'aws-region': 'us-east-1' },
  isStrict,
});

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([7]), length, valueBytes]);
}

/** The message as Bedrock sends it. https://smithy.io/2.0/aws/amazon-eventstream.html */
function frame(message: Message): Buffer {
  const [type, name] = 'event' in message ? ['event', message.event] : ['exception', message.exception];
  const headers = Buffer.concat([
    header(`:${type}-type`, name),
    header(':content-type', 'application/json'),
    header(':message-type', type),
  ]);
  const payload = Buffer.from(JSON.stringify(message.data));
  const prelude = Buffer.concat([uint32(16 + headers.length + payload.length), uint32(headers.length)]);
  const body = Buffer.concat([prelude, uint32(crc32(prelude)), headers, payload]);
  return Buffer.concat([body, uint32(crc32(body))]);
}

/** What the hub hears of binary frames that are cut into pieces of `size` bytes. */
function hear(recording: Recording, bytes: Buffer, size: number) {
  const stream = translatorOf(recording).stream as NonNullable<Translator['stream']>;
  const decoder = decoderFor(stream.framing);
  const translator = stream.open(contextOf(recording));
  const told = [];
  for (let at = 0; at < bytes.length; at += size)
    for (const event of decoder.feed(bytes.subarray(at, at + size))) told.push(translator.event(event));
  for (const event of decoder.end()) told.push(translator.event(event));
  told.push(translator.end());
  return {
    chunks: told.flatMap(({ chunks }) => chunks),
    isDone: told.some(({ isDone }) => isDone),
    error: told.find(({ error }) => error)?.error,
  };
}

describe("AWS's published examples", () => {
  it('are all there', () => {
    expect(recordings).toHaveLength(17);
  });

  it.each(having('request'))('$title: the request', (recording) => {
    const { hub = {}, path, request } = recording;
    expect(translatorOf(recording).request(hub, contextOf(recording))).toEqual({ path, body: request });
  });

  it.each(having('translated'))('$title: the response', (recording) => {
    const { hub = {}, answer = {}, translated } = recording;
    expect(translatorOf(recording).answer(answer, contextOf(recording), hub)).toEqual(translated);
  });

  it.each(having('events'))('$title: the stream, as binary frames', (recording) => {
    const { events = [], chunks, isDone, error } = recording;
    const bytes = Buffer.concat(events.map(frame));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: bytes.length }), (size) => {
        expect(hear(recording, bytes, size)).toEqual({ chunks, isDone, error });
      }),
      { numRuns: 30 },
    );
  });

  it.each(having('isDone').filter(({ isDone }) => isDone))(
    '$title: a cut stream is not taken for done',
    (recording) => {
      const { events = [] } = recording;
      const stop = events.findIndex((message) => 'event' in message && message.event === 'messageStop');
      const bytes = Buffer.concat(events.slice(0, stop).map(frame));
      expect(hear(recording, bytes, bytes.length)).toMatchObject({ isDone: false, error: undefined });
    },
  );
});
