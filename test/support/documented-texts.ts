import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * Where the texts of requests, answers and streams stand by the providers' documentation, independent of the gateway's own tables. In
 * `test/fixtures/documented-texts`, `$TEXT` stands for a text, `$ESCAPED` before JSON that is escaped as Python's `json.dumps` does,
 * `$BASE64` for the text in base64. In streams an event with `$PIECE` or `$JSONPIECE` is repeated for each piece of the text, or of
 * escaped JSON that holds it, and `$HEAD` and `$TAIL` are its halves.
 */
export interface DocumentedRequest {
  readonly endpoint: string;
  readonly path: string;
  /** Providers: the first has the endpoint itself. */
  readonly keys: readonly string[];
  readonly places: Readonly<Record<string, unknown>>;
}

export interface DocumentedAnswer {
  readonly endpoint: string;
  readonly path: string;
  readonly key: string;
  readonly request: object;
  readonly places: Readonly<Record<string, unknown>>;
}

export type DocumentedFraming = 'sse' | 'array' | 'lines' | 'aws';

export interface DocumentedStream {
  readonly endpoint: string;
  readonly path: string;
  readonly key: string;
  readonly framing: DocumentedFraming;
  readonly request: object | '$FORM';
  readonly start?: readonly unknown[];
  readonly end: readonly unknown[];
  readonly places: Readonly<Record<string, readonly unknown[]>>;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/documented-texts/${name}.json`, import.meta.url), 'utf8'));
export const REQUESTS = read('requests') as readonly DocumentedRequest[];
export const ANSWERS = read('answers') as readonly DocumentedAnswer[];
export const STREAMS = read('streams') as readonly DocumentedStream[];

/** JSON in ASCII, as Python's `json.dumps` writes it; letters that a guardrail looks for are escaped, too. */
export const escapedJson = (json: string): string =>
  json.replace(/[^\x20-\x7e]|[@A]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The template with the text in its place. */
export function planted(
  template: unknown,
  text: string,
  more: Readonly<Record<string, string>> = {},
): unknown {
  const put = (value: string): string => {
    if (value === '$BASE64') return Buffer.from(text).toString('base64');
    if (value.startsWith('$ESCAPED'))
      return escapedJson(
        value.slice('$ESCAPED'.length).replaceAll('$TEXT', JSON.stringify(text).slice(1, -1)),
      );
    if (value in more) return more[value] as string;
    return value === '$TEXT' ? text : value;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return put(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [put(name), walk(inner)]));
  };
  return walk(template);
}

/** The events of a stream whose text is cut where `cut` says. */
export function eventsOf(
  { start = [], end }: DocumentedStream,
  place: readonly unknown[],
  text: string,
  cut: (text: string) => readonly string[],
): unknown[] {
  const half = Math.floor(text.length / 2);
  const halves = { $HEAD: text.slice(0, half), $TAIL: text.slice(half) };
  const events = place.flatMap((event) => {
    const written = JSON.stringify(event);
    if (written.includes('"$PIECE"'))
      return cut(text).map((piece) => planted(event, text, { $PIECE: piece }));
    if (!written.includes('"$JSONPIECE"')) return [planted(event, text, halves)];
    const json = escapedJson(JSON.stringify({ id: `${text}\n"${text}"` }));
    return cut(json).map((piece) => planted(event, text, { $JSONPIECE: piece }));
  });
  return [...start, ...events, ...end];
}

const nameOf = (event: unknown): string | null => (event as { readonly type?: string } | null)?.type ?? null;

const FRAMES: Readonly<Record<DocumentedFraming, (events: readonly unknown[]) => Buffer>> = {
  sse: (events) =>
    Buffer.from(
      events
        .map((event) => {
          const name = nameOf(event);
          const data = typeof event === 'string' ? event : JSON.stringify(event);
          return `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;
        })
        .join(''),
    ),
  array: (events) =>
    Buffer.from(`[${events.map((event) => JSON.stringify(event, null, 1)).join('\n,\r\n')}\n]`),
  lines: (events) => Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join('')),
  aws: (events) => Buffer.concat(events.map(awsMessage)),
};

/** The bytes of a stream. */
export const framed = (framing: DocumentedFraming, events: readonly unknown[]): Buffer =>
  FRAMES[framing](events);

/** One message of https://smithy.io/2.0/aws/amazon-eventstream.html; an event is `{ name: payload }`. */
function awsMessage(event: unknown): Buffer {
  const [[name, payload]] = Object.entries(event as object) as [[string, unknown]];
  const headers = Buffer.concat([awsHeader(':message-type', 'event'), awsHeader(':event-type', name)]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, checksum]);
}

function awsHeader(name: string, value: string): Buffer {
  const length = Buffer.alloc(3);
  length.writeUInt8(7, 0);
  length.writeUInt16BE(value.length, 1);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), length, Buffer.from(value)]);
}

/** All texts of bytes that a client or a provider got: of JSON, of events, of forms; by the names of their members, joined. */
export function deliveredTexts(bytes: Buffer): string {
  const byName = new Map<string, string>();
  const keep = (name: string, text: string): void => {
    byName.set(name, (byName.get(name) ?? '') + text);
  };
  const walk = (name: string, value: unknown): void => {
    if (typeof value === 'string') keep(name, value);
    else if (typeof value === 'object' && value !== null)
      for (const [inner, below] of Object.entries(value)) {
        keep('names', `${inner} `);
        walk(Array.isArray(value) ? name : inner, below);
      }
  };
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  for (const json of jsonTexts(text)) walk('', json);
  const all = [text, ...byName.values()].join('\n');
  const unescaped = all.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${unescaped}\n${[...byName.values()].map((value) => Buffer.from(value, 'base64').toString('latin1')).join('\n')}`;
}

function jsonTexts(text: string): unknown[] {
  const whole = parsed(text);
  if (whole !== undefined) return [whole];
  return text.split(/\r?\n/).flatMap((line) => {
    const json = parsed(line.replace(/^data: ?/, ''));
    return json === undefined ? [] : [json];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
