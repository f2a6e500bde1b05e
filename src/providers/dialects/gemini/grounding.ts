import type { Json } from '../../endpoint.js';
import { count, isObject, list, objectOf } from '../../endpoints/reading.js';

/** The offset of each part in the response's text, by the part's index. */
export type PartOffsets = readonly number[];

/** More annotations than a useful response has: each support may name every source. */
const MOST = 1000;

/**
 * The sources of a grounded response as OpenAI's `url_citation`s: one for each text segment and each source that supports it; without
 * segments, the sources of the whole text. https://ai.google.dev/api/generate-content#GroundingMetadata
 */
export function annotations(metadata: unknown, text: string, offsets: PartOffsets): Json[] {
  if (!isObject(metadata)) return [];
  const sources = list(metadata.groundingChunks).map(sourceOf);
  const supports = list(metadata.groundingSupports).filter(isObject);
  if (supports.length === 0) {
    return sources.flatMap((source) => (source ? [citation(source, 0, text.length)] : [])).slice(0, MOST);
  }
  const bytes = Buffer.from(text);
  const found: Json[] = [];
  for (const { segment, groundingChunkIndices } of supports) {
    const named = list(groundingChunkIndices).map((index) => sources[count(index) ?? -1]);
    const cited = named.filter((source) => source !== undefined && source !== null);
    if (found.length + cited.length > MOST) break;
    if (cited.length === 0) continue;
    const [start, end] = span(objectOf(segment), bytes, offsets);
    found.push(...cited.map((source) => citation(source, start, end)));
  }
  return found;
}

interface GroundingSource {
  readonly url: string;
  readonly title: string;
}

/** A source on the web, in a document store, or on a map. */
function sourceOf(chunk: unknown): GroundingSource | null {
  if (!isObject(chunk)) return null;
  const source = [chunk.web, chunk.retrievedContext, chunk.maps].find(isObject);
  if (!source || typeof source.uri !== 'string') return null;
  return { url: source.uri, title: typeof source.title === 'string' ? source.title : '' };
}

const citation = ({ url, title }: GroundingSource, start: number, end: number): Json => ({
  type: 'url_citation',
  url_citation: { url, title, start_index: start, end_index: end },
});

/**
 * Gemini counts UTF-8 bytes from the start of a part, OpenAI characters from the start of the text. A missing start is 0.
 * https://ai.google.dev/api/generate-content#Segment
 */
function span(segment: Json, bytes: Buffer, offsets: PartOffsets): readonly [start: number, end: number] {
  const offset = offsets[count(segment.partIndex) ?? 0] ?? 0;
  const start = offset + (count(segment.startIndex) ?? 0);
  const end = offset + (count(segment.endIndex) ?? 0);
  return [characters(bytes, start), characters(bytes, end)];
}

const characters = (bytes: Buffer, end: number): number =>
  bytes.toString('utf8', 0, Math.min(end, bytes.length)).length;
