import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/** Where in the answer's text, in characters, a cited passage stands. */
export interface CitedSpan {
  readonly start: number;
  readonly end: number;
}

/** Citations in the hub's places. */
export interface AnthropicCitations {
  readonly annotations: Json[];
  /** Those of another kind, as they are. */
  readonly citations: Json[];
}

/**
 * Sorts the citations of one block of text: of a web page, as the hub's `url_citation` of the whole block; others, of
 * documents, stay as they are. https://platform.claude.com/docs/en/build-with-claude/citations
 */
export function sortCitations(given: readonly unknown[], { start, end }: CitedSpan): AnthropicCitations {
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

/** Those of them that an answer says: the hub's own always, others when it need not be strict. */
export function citationFields({ annotations, citations }: AnthropicCitations, isStrict: boolean): Json {
  return {
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(citations.length > 0 && !isStrict ? { citations } : {}),
  };
}
