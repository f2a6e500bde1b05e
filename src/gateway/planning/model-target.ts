/** A model that names its target, `@slug/model`, taken apart. */
export interface ModelTarget {
  readonly slug: string;
  readonly model: string;
}

/** Models of Cloudflare and Hugging Face that begin with an @ of their own. */
const NOT_SLUGS = ['@cf/', '@hf/'] as const;

export function modelTarget(model: string): ModelTarget | null {
  if (!model.startsWith('@') || NOT_SLUGS.some((prefix) => model.startsWith(prefix))) return null;
  const slash = model.indexOf('/');
  return slash > 1 && slash < model.length - 1
    ? { slug: model.slice(1, slash), model: model.slice(slash + 1) }
    : null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * The same JSON with another value for the top-level `"model"`, every other byte as it was.
 *
 * `json` is known to be a valid object whose model is a string. Where a careless client wrote the key
 * twice, each is replaced, so that no reader sees the old one.
 */
export function withModel(json: Buffer, model: string): Buffer {
  const value = Buffer.from(JSON.stringify(model));
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const [start, end] of modelSpans(json)) {
    pieces.push(json.subarray(copied, start), value);
    copied = end;
  }
  return Buffer.concat([...pieces, json.subarray(copied)]);
}

type Span = readonly [start: number, end: number];

/** Where the string values of top-level `model` keys stand, quotes included. */
function* modelSpans(json: Buffer): Generator<Span> {
  let depth = 0;
  let isModel = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    else if (byte === QUOTE) {
      const end = stringEnd(json, at);
      const isKey = isFollowedByColon(json, end);
      if (!isKey && isModel && depth === 1) yield [at, end];
      isModel = isKey && depth === 1 && isModelKey(json.subarray(at, end));
      at = end - 1;
    }
  }
}

function stringEnd(json: Buffer, start: number): number {
  let at = start + 1;
  while (json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isFollowedByColon(json: Buffer, from: number): boolean {
  let at = from;
  while (SPACE.has(json[at] as number)) at++;
  return json[at] === COLON;
}

/** A key may be spelled with escapes, so it is compared as JSON reads it. */
function isModelKey(text: Buffer): boolean {
  return JSON.parse(text.toString('utf8')) === 'model';
}
