import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/** Citations in the hub's fields. */
export interface BedrockCitations {
  readonly annotations: Json[];
  /** Those of documents, unchanged. */
  readonly citations: Json[];
}

/**
 * Sorts the citations of one text block, from `start` to `end` in the response, in characters: those of web pages become the hub's
 * `url_citation`; others stay unchanged. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html
 */
export function sortBedrockCitations(
  given: readonly unknown[],
  start: number,
  end: number,
): BedrockCitations {
  const annotations: Json[] = [];
  const citations: Json[] = [];
  for (const citation of given) {
    if (!isObject(citation)) continue;
    const url = webAddress(citation.location);
    const title = typeof citation.title === 'string' ? citation.title : '';
    if (url === null) citations.push(citation);
    else
      annotations.push({
        type: 'url_citation',
        url_citation: { url, title, start_index: start, end_index: end },
      });
  }
  return { annotations, citations };
}

function webAddress(location: unknown): string | null {
  const web = isObject(location) ? location.web : null;
  return isObject(web) && typeof web.url === 'string' ? web.url : null;
}

/** The citation fields of a response: the hub's own always, others if it need not be strict. */
export function bedrockCitationFields({ annotations, citations }: BedrockCitations, isStrict: boolean): Json {
  return {
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(citations.length > 0 && !isStrict ? { citations } : {}),
  };
}
