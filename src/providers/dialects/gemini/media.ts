import type { Json } from '../../endpoint.js';
import type { Host } from './host.js';
import { refuse } from '../refusing.js';

/**
 * MIME types by file extension, for the types that Gemini reads.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-flash (supported MIME types)
 */
const MIME_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['json', 'application/json'],
  ['txt', 'text/plain'],
  ['md', 'text/md'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
  ['xml', 'text/xml'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['aiff', 'audio/aiff'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/m4a'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpg'],
  ['mov', 'video/quicktime'],
  ['avi', 'video/avi'],
  ['flv', 'video/x-flv'],
  ['webm', 'video/webm'],
  ['wmv', 'video/wmv'],
  ['3gp', 'video/3gpp'],
]);

/** The MIME type by a file's name or URL; undefined if its extension is unknown. */
export function mimeTypeOf(name: string): string | undefined {
  const path = name.split(/[?#]/, 1)[0] ?? '';
  const file = path.slice(path.lastIndexOf('/') + 1);
  const dot = file.lastIndexOf('.');
  return dot < 0 ? undefined : MIME_TYPES.get(file.slice(dot + 1).toLowerCase());
}

/** An image, audio or document in a request. */
export interface Media {
  /** A data URL, a URL (`https:`, `gs:`), or bare base64. */
  readonly source: string;
  /** As given in the request; empty if it is not. A data URL's own type overrides it. */
  readonly mimeType: string;
  /** Default type of bare base64; absent if the type must be given. */
  readonly fallback?: string;
  /** Name of the parameter, for errors. */
  readonly parameter: string;
}

/** A part with the bytes themselves (`inlineData`) or with their URL (`fileData`). https://ai.google.dev/api/caching#Part */
export function mediaPart(media: Media, host: Host): Json {
  if (/^data:/i.test(media.source)) return fromDataUrl(media);
  if (/^(https?|gs):\/\//i.test(media.source)) return byAddress(media, host);
  const mimeType = media.mimeType || media.fallback;
  if (mimeType === undefined) return refuse(media.parameter, 'its mime_type is missing');
  return { inlineData: { mimeType, data: media.source } };
}

function byAddress({ source, mimeType, parameter }: Media, host: Host): Json {
  const type = mimeType || mimeTypeOf(source);
  if (type !== undefined) return { fileData: { mimeType: type, fileUri: source } };
  if (host.needsMimeType)
    refuse(parameter, 'the URL does not show the type of the file, so mime_type is required');
  return { fileData: { fileUri: source } };
}

/** https://www.rfc-editor.org/rfc/rfc2397 */
function fromDataUrl({ source, mimeType, parameter }: Media): Json {
  const comma = source.indexOf(',');
  if (comma < 0) return refuse(parameter, 'the data URL has no data');
  const head = source.slice('data:'.length, comma);
  const data = source.slice(comma + 1);
  const type = (head.split(';', 1)[0] ?? '') || mimeType || 'text/plain';
  return {
    inlineData: { mimeType: type, data: /;base64$/i.test(head) ? data : percentDecoded(data, parameter) },
  };
}

function percentDecoded(data: string, parameter: string): string {
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64');
  } catch {
    return refuse(parameter, 'the data URL is malformed');
  }
}
