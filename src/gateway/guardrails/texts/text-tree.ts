/**
 * How a text takes part in an exchange:
 *
 * - `said`: a prompt, a message, an argument. Every check looks at it.
 * - `delta`: a piece of one that a stream continues.
 * - `repeat`: what a stream may have said in pieces before. It is counted once.
 */
export type TextKind = 'said' | 'delta' | 'repeat';

/**
 * Where the texts of an endpoint's bodies stand, as a tree, so that one walk meets them in the order of the document. A place is written
 * `messages[].content[].text`; `[]` stands for each item of a list, `*` for each member, and `**` at the end for all that is below, where
 * the names of members are texts too.
 */
export interface TextTree {
  readonly fields: ReadonlyMap<string, TextTree>;
  readonly any: TextTree | null;
  readonly each: TextTree | null;
  /** What a text is that stands here; null where none is expected. */
  readonly here: TextKind | null;
  /** What texts below are, whatever the names of their members. */
  readonly below: TextKind | null;
}

/** How the events of a stream carry texts. */
export interface StreamTexts {
  readonly tree: TextTree;
  /** The part of the answer that a piece at a place of an event continues. */
  partOf(event: StreamedJson, place: string): string;
  /** The beginnings of the names of parts that are complete with this event; null when none is. */
  endsOf(event: StreamedJson): readonly string[] | null;
  /** An event like this one that may come once more, to carry what is left of its piece. Absent: the event itself may. */
  readonly carrierOf?: (event: StreamedJson) => StreamedJson;
}

type StreamedJson = Readonly<Record<string, unknown>>;

/** Where the texts of an endpoint stand. Null where its requests or answers are not read: pictures, sound, uploads. */
export interface EndpointTexts {
  readonly request: TextTree | null;
  readonly answer: TextTree | null;
  /** Its answers may be plain text. */
  readonly isPlain?: true;
  readonly stream: StreamTexts;
}

type Path = readonly string[];
type Places = readonly (readonly [path: Path, kind: TextKind])[];

/** Places at which texts are said. */
export function textTree(...said: readonly string[]): TextTree {
  return streamTree({ said });
}

export function streamTree(places: Readonly<Partial<Record<TextKind, readonly string[]>>>): TextTree {
  const all = Object.entries(places) as [TextKind, readonly string[]][];
  return treeOf(all.flatMap(([kind, list]) => list.map((place) => [pathOf(place), kind] as const)));
}

const pathOf = (place: string): Path => place.replaceAll('[]', '.[]').split('.');

const SPECIAL: ReadonlySet<string> = new Set(['[]', '*', '**']);

function treeOf(places: Places): TextTree {
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
