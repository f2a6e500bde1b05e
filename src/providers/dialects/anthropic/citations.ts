import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/** The position of a cited passage in the response's text, in characters. */
export interface CitedSpan {
  readonly start: number;
  readonly end: number;
}

/** Citations in the hub's fields. */
export interface AnthropicCitations {
  readonly annotations: Json[];
  /** Those of another kind, unchanged. */
  readonly citations: Json[];
}

/**
 * Sorts the citations of one text block: those of web pages become the hub's `url_citation` for the whole block; others, of documents, stay
 * unchanged. https://platform.claude.com/docs/en/build-with-claude/citations
 */
export function sortAnthropicCitations(
  given: readonly unknown[],
  { start, end }: CitedSpan,
): AnthropicCitations {
  const annotations: Json[] = [];
  const citations: Json[] = [];
  for (const citation of given) {
    if (!isObject(citation)) continue;
    const { type, url, title } = citation;
    if (type !== 'web_search_result_location' || typeof url !== 'string') citations.push(citation);
    else
      annotations.push({
        type: 'url_citation',
        url_citation: {
          url,
          title: typeof title === 'string' ? title : '',
          start_index: start,
          end_index: end,
        },
      });
  }
  return { annotations, citations };
}

/** The citation fields of a response: the hub's own always, others if it need not be strict. */
export function anthropicCitationFields(
  { annotations, citations }: AnthropicCitations,
  isStrict: boolean,
): Json {
  return {
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(citations.length > 0 && !isStrict ? { citations } : {}),
  };
}
