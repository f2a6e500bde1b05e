import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { count, isObject, list, objectOf, textOrNull } from './reading.js';

/**
 * Reads document recognition. Pages are charged, at a higher price if they are annotated; tokens are not reported.
 *
 * The request determines whether pages were annotated, because the response to a document without images contains no annotations. A
 * response with annotations counts too: a config may have requested them instead of the client. https://docs.mistral.ai/api/endpoint/ocr
 * (OCRResponse, OCRUsageInfo) https://docs.mistral.ai/studio/document-processing/annotations
 */
export const ocrUsage: UsageReader = {
  fromAnswer: (answer) => reportedUsage(answer, hasAnnotations(answer)),
  modelOf: ({ model }) => textOrNull(model),
  outputText: () => '',
  inputText: () => '',
  askedBy: (request) => (asksForAnnotations(request) ? annotatedUsage : ocrUsage),
};

const annotatedUsage: UsageReader = { ...ocrUsage, fromAnswer: (answer) => reportedUsage(answer, true) };

/** Of its images, or of the whole document. */
const asksForAnnotations = (request: Json): boolean =>
  isObject(request.bbox_annotation_format) || isObject(request.document_annotation_format);

function reportedUsage({ usage_info: info }: Json, isAnnotated: boolean): Usage | null {
  const pages = count(objectOf(info).pages_processed);
  return pages === null ? null : pagesUsage(pages, isAnnotated);
}

const pagesUsage = (pages: number, isAnnotated: boolean): Usage => ({
  input_tokens: 0,
  output_tokens: 0,
  document_pages: pages,
  ...(isAnnotated ? { annotated_pages: pages } : {}),
});

function hasAnnotations({ document_annotation: whole, pages }: Json): boolean {
  if (textOrNull(whole) !== null) return true;
  return list(pages).some((page) =>
    list(objectOf(page).images).some((image) => textOrNull(objectOf(image).image_annotation) !== null),
  );
}

/** Mistral's maximum. https://docs.mistral.ai/studio/document-processing/basic_ocr */
const PAGES_MAX = 1000;

/** The maximum usage of a request. `pages` is a list of numbers, or a text of numbers and ranges: `0,2-5`. */
export function mostPages(request: Json): Usage {
  const pages = Math.min(namedPages(request) ?? PAGES_MAX, PAGES_MAX);
  return pagesUsage(pages, asksForAnnotations(request));
}

function namedPages({ document, pages }: Json): number | undefined {
  if (objectOf(document).type === 'image_url') return 1;
  return Array.isArray(pages) ? pages.length : textOrNull(pages)?.split(',').reduce(addRange, 0);
}

/** An unreadable range may mean all pages. */
function addRange(sum: number, range: string): number {
  const [, first, last = first] = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$/.exec(range) ?? [];
  return sum + (first === undefined ? PAGES_MAX : Math.max(0, Number(last) - Number(first)) + 1);
}
