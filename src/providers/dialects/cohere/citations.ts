import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';

/** Citations may refer to thinking or a plan; the hub's are positions in the text. */
const isOfText = ({ type }: Json): boolean => type === undefined || type === null || type === 'TEXT_CONTENT';

/**
 * Citations in the hub's format: those of documents with a web address. `citations` has all of them in Cohere's format, for responses that
 * need not be strict. https://docs.cohere.com/docs/documents-and-citations
 */
export function cohereCitationFields(citations: readonly Json[], isStrict: boolean): Json {
  const annotations = citations.filter(isOfText).flatMap(annotationsOf);
  return {
    ...(annotations.length > 0 && { annotations }),
    ...(!isStrict && citations.length > 0 && { citations }),
  };
}

function annotationsOf({ start, end, sources }: Json): readonly Json[] {
  const start_index = count(start);
  const end_index = count(end);
  if (start_index === null || end_index === null) return [];
  return list(sources).flatMap((source) => {
    const document = isObject(source) && isObject(source.document) ? source.document : {};
    const { url, title } = document;
    if (typeof url !== 'string') return [];
    const url_citation = { url, title: typeof title === 'string' ? title : url, start_index, end_index };
    return [{ type: 'url_citation', url_citation }];
  });
}
