import { isUtf8 } from 'node:buffer';
import type { Json } from '../../providers/endpoint.js';
import type { StreamEvent } from '../../providers/translation.js';
import type { FrameDecoder } from './frame-decoder.js';
import { JsonArrayDecoder, JsonLinesDecoder } from './json.js';
import { encodeSse, SseDecoder } from './sse.js';

/** How the events of a response are framed. */
export type EventFraming = 'sse' | 'json-lines' | 'json-array';

/** The framing of one response, for reading and writing. */
export interface AnswerFrames {
  readonly decoder: FrameDecoder;
  encode(event: StreamEvent): string;
  /** The text after the last event. */
  close(): string;
}

const FRAMES: Readonly<Record<EventFraming, () => AnswerFrames>> = {
  sse: () => ({ decoder: new SseDecoder(), encode: encodeSse, close: () => '' }),
  'json-lines': () => ({
    decoder: new JsonLinesDecoder(),
    encode: ({ data }) => `${data}\n`,
    close: () => '',
  }),
  'json-array': () => {
    let isFirst = true;
    return {
      decoder: new JsonArrayDecoder(),
      encode: ({ data }) => {
        const before = isFirst ? '[' : ',\r\n';
        isFirst = false;
        return before + data;
      },
      close: () => (isFirst ? '[]' : '\n]'),
    };
  },
};

export const framesOf = (framing: EventFraming): AnswerFrames => FRAMES[framing]();

/** The kind of a whole response by its bytes, whatever its content type. `json`: one object. */
export type WholeAnswer =
  | { readonly kind: 'json'; readonly text: string; readonly json: Json }
  | { readonly kind: 'events'; readonly framing: EventFraming }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable' };

const BOM = '\ufeff';
const UNREADABLE: WholeAnswer = { kind: 'unreadable' };
/** The beginning of an event: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
const EVENT = /^(?:data|event|id|retry)?:/;

/** Detects the kind of a whole response. Its text has no byte order mark. */
export function wholeResponse(bytes: Buffer): WholeAnswer {
  if (!isUtf8(bytes)) return UNREADABLE;
  const said = bytes.toString('utf8');
  const text = said.startsWith(BOM) ? said.slice(BOM.length) : said;
  const begins = text.trimStart();
  if (begins.startsWith('{')) {
    const json = parsed(text);
    if (json !== undefined) return { kind: 'json', text, json: json as Json };
    if (isJsonLines(begins)) return { kind: 'events', framing: 'json-lines' };
  }
  if (begins.startsWith('[') && isListOfObjects(text)) return { kind: 'events', framing: 'json-array' };
  if (EVENT.test(begins)) return { kind: 'events', framing: 'sse' };
  return { kind: 'text', text };
}

const isJsonLines = (text: string): boolean =>
  text.split(/\r\n|\r|\n/).every((line) => line.trim() === '' || parsed(line) !== undefined);

/** Items other than objects would be lost as events. */
function isListOfObjects(text: string): boolean {
  const list = parsed(text);
  return (
    Array.isArray(list) &&
    list.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
