import type { RE2JS } from 're2js';
import { type JsonValue, type JsonPath, maskPaths } from './json-path.js';
import { clearJson, clearPieces, clearText, REDACTED_TEXT } from './texts.js';

/** An event, or a line of a stream of JSON lines. `value` is undefined when it is not JSON. */
interface Event {
  readonly line: string;
  readonly prefix: string;
  readonly value: JsonValue | undefined;
  isChanged: boolean;
}

export interface StreamRules {
  readonly paths: readonly JsonPath[];
  readonly patterns: readonly RE2JS[];
  /** Undefined to treat the event as text. */
  readonly parse: (json: string) => JsonValue | undefined;
}

/** A string of an event that can be replaced. */
interface EventStreamPiece {
  readonly text: string;
  readonly put: (text: string) => void;
}

/** A stream may begin with a byte order mark, which counts as white space here. */
const DATA = /^\s*(?:data:)?\s*/;
/** The end marker of an OpenAI stream, which is not JSON despite its brackets. */
const DONE = '[DONE]';
const LINE_ENDS = /(\r\n|\n|\r)/;

/**
 * Redacts a stream. Paths apply to each event as a document. For patterns, the strings at the same path of all events form one text,
 * because a response arrives in pieces that break anywhere. Reads https://html.spec.whatwg.org/multipage/server-sent-events.html and JSON
 * lines.
 */
export function clearStream(stream: string, { paths, patterns, parse }: StreamRules): string {
  const events = stream.split(LINE_ENDS).map((line) => eventIn(line, parse));
  for (const event of events)
    if (event.value !== undefined && maskPaths(event.value, paths, REDACTED_TEXT)) event.isChanged = true;
  if (patterns.length > 0) clearTexts(events, patterns);
  const hidesNames = namesIn(events).some((name) => clearText(name, patterns) !== name);
  return events.map((event) => written(event, patterns, hidesNames)).join('');
}

function eventIn(line: string, parse: (json: string) => JsonValue | undefined): Event {
  const prefix = DATA.exec(line)?.[0] ?? '';
  const json = line.slice(prefix.length);
  const isDocument = (json.startsWith('{') || json.startsWith('[')) && json !== DONE;
  const value = isDocument ? parse(json) : undefined;
  return { line, prefix, value, isChanged: value === REDACTED_TEXT };
}

function written(
  { line, prefix, value, isChanged }: Event,
  patterns: readonly RE2JS[],
  hidesNames: boolean,
): string {
  if (value === undefined) return clearText(line, patterns);
  const json = isChanged ? JSON.stringify(value) : line.slice(prefix.length);
  return prefix + (hidesNames ? clearJson(json, patterns) : json);
}

/** Field names without duplicates: the events of a stream share the same few. */
function namesIn(events: readonly Event[]): readonly string[] {
  const names = new Set<string>();
  const collect = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    for (const [name, item] of Object.entries(value)) {
      if (!isList) names.add(name);
      collect(item);
    }
  };
  for (const { value } of events) if (value !== undefined) collect(value);
  return [...names];
}

function clearTexts(events: readonly Event[], patterns: readonly RE2JS[]): void {
  const places = new Map<string, EventStreamPiece[]>();
  for (const event of events) {
    if (event.value === undefined) continue;
    const note = (place: string, text: string, put: (text: string) => void): void => {
      const change = (clear: string): void => {
        put(clear);
        event.isChanged = true;
      };
      const pieces = places.get(place);
      if (pieces) pieces.push({ text, put: change });
      else places.set(place, [{ text, put: change }]);
    };
    visit(event.value, '', note);
  }
  for (const pieces of places.values()) {
    const texts = pieces.map(({ text }) => text);
    for (const [index, clear] of clearPieces(texts, patterns).entries())
      if (clear !== texts[index]) pieces[index]?.put(clear);
  }
}

/** Visits each string and number. Choice or block 1 is a different text from 0, so an `index` is part of the path. */
function visit(
  value: JsonValue,
  place: string,
  note: (place: string, text: string, put: (text: string) => void) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  const own = isList ? place : `${place}#${indexOf(value)}`;
  for (const [key, item] of Object.entries(value)) {
    const put = (text: string): void => {
      Object.defineProperty(value, key, {
        value: text,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    };
    if (typeof item === 'string') note(`${own}.${key}`, item, put);
    else if (typeof item === 'number') note(`${own}.${key}=${item}`, String(item), put);
    else visit(item, isList ? `${own}[]` : `${own}.${key}`, note);
  }
}

const indexOf = (value: Readonly<Record<string, JsonValue>>): string =>
  typeof value.index === 'number' ? String(value.index) : '';
