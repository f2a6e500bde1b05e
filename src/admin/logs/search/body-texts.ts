/** Maximum number of paths of an event stream that are joined. No provider uses that many. */
const MOST_PLACES = 1_000;

/**
 * Whether a text occurs in a body: in any string of a JSON value, keys included, or in a plain text. Pieces of a streamed response are
 * joined, so that a text that was sent word by word is found. `needle` is lower case.
 */
export function bodyContains(body: unknown, needle: string): boolean {
  if (typeof body !== 'string') return someText(body, (text) => includes(text, needle));
  return includes(body, needle) || streamedTexts(body).some((text) => includes(text, needle));
}

const includes = (text: string, needle: string): boolean => text.toLowerCase().includes(needle);

/** A body that nests too deeply to walk is treated as text: see `readableBody`. */
function someText(value: unknown, fits: (text: string) => boolean): boolean {
  if (typeof value === 'string') return fits(value);
  if (typeof value === 'number') return fits(String(value));
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => someText(item, fits));
  return Object.entries(value).some(([key, item]) => fits(key) || someText(item, fits));
}

const DATA = 'data:';

/**
 * The strings of a stream's events, joined by path: `choices.0.delta.content` of all chunks is the response.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
function streamedTexts(stream: string): readonly string[] {
  const pieces = new Map<string, string[]>();
  for (const line of stream.split(/\r\n|\n|\r/))
    if (line.startsWith(DATA)) collect(valueIn(line.slice(DATA.length)), '', pieces);
  return [...pieces.values()].map((texts) => texts.join(''));
}

function valueIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const DEEPEST = 32;

function collect(value: unknown, place: string, pieces: Map<string, string[]>, depth = 0): void {
  if (typeof value === 'string') {
    const texts = pieces.get(place);
    if (texts) texts.push(value);
    else if (pieces.size < MOST_PLACES) pieces.set(place, [value]);
  } else if (typeof value === 'object' && value !== null && depth < DEEPEST)
    for (const [key, item] of Object.entries(value)) collect(item, `${place}.${key}`, pieces, depth + 1);
}
