/**
 * The role of a text in an exchange:
 *
 * - `said`: a prompt, a message, an argument. Every check reads it.
 * - `delta`: a piece of one that a stream continues.
 * - `repeat`: a text that a stream may already have sent in pieces. It counts once.
 */
export type TextKind = 'said' | 'delta' | 'repeat';

/**
 * The places of an endpoint's texts, as a tree, so that one walk visits them in the order of the document. A place is written
 * `messages[].content[].text`; `[]` means each item of a list, `*` each member, and `**` at the end everything below, where the names of
 * members are texts too.
 */
export interface TextTree {
  readonly fields: ReadonlyMap<string, TextTree>;
  readonly any: TextTree | null;
  readonly each: TextTree | null;
  /** The kind of a text here; null if none is expected. */
  readonly here: TextKind | null;
  /** The kind of all texts below, whatever the names of their members. */
  readonly below: TextKind | null;
}

/** How the events of a stream carry texts. */
export interface StreamTexts {
  readonly tree: TextTree;
  /** The part of the response that the piece at a place of an event continues. */
  partOf(event: StreamedJson, place: string): string;
  /**
   * The run that a text at a place of an event belongs to: parts that a client joins to one text, such as the text blocks of a message. Null,
   * or absent: its part stands alone.
   */
  runOf?(event: StreamedJson, place: string): string | null;
  /** Name prefixes of the parts that this event completes; null for none. */
  endsOf(event: StreamedJson): readonly string[] | null;
  /** A variant of this event that may be sent again to carry the rest of its piece. Absent: the event itself may. */
  readonly carrierOf?: (event: StreamedJson) => StreamedJson;
}

type StreamedJson = Readonly<Record<string, unknown>>;

/** The places of an endpoint's texts. Null where requests or responses are not read: images, audio, uploads. */
export interface EndpointTexts {
  readonly request: TextTree | null;
  readonly answer: TextTree | null;
  /** Its responses may be plain text. */
  readonly isPlain?: true;
  readonly stream: StreamTexts;
}

type TextPath = readonly string[];
type TextPositions = readonly (readonly [path: TextPath, kind: TextKind])[];

/** A tree of message texts. */
export function textTree(...texts: readonly string[]): TextTree {
  return streamTree({ said: texts });
}

export function streamTree(places: Readonly<Partial<Record<TextKind, readonly string[]>>>): TextTree {
  const all = Object.entries(places) as [TextKind, readonly string[]][];
  return treeOf(all.flatMap(([kind, list]) => list.map((place) => [pathOf(place), kind] as const)));
}

const pathOf = (place: string): TextPath => place.replaceAll('[]', '.[]').split('.');

const SPECIAL: ReadonlySet<string> = new Set(['[]', '*', '**']);

function treeOf(places: TextPositions): TextTree {
  const heads = [...new Set(places.flatMap(([[head]]) => (head === undefined ? [] : [head])))];
  const below = (head: string): TextTree =>
    treeOf(places.flatMap(([[first, ...rest], kind]) => (first === head ? [[rest, kind] as const] : [])));
  const kindAt = (path: string): TextKind | null =>
    places.find(([steps]) => steps.join('.') === path)?.[1] ?? null;
  return {
    fields: new Map(heads.filter((head) => !SPECIAL.has(head)).map((head) => [head, below(head)])),
    any: heads.includes('*') ? below('*') : null,
    each: heads.includes('[]') ? below('[]') : null,
    here: kindAt(''),
    below: kindAt('**'),
  };
}
