import type { Json } from '../../endpoint.js';
import type { Host } from './host.js';
import { base64OfFile, inlineFile, mediaTypeByName } from '../../inline-file.js';
import { refuseParameter } from '../refusing.js';

/** An image, audio or document in a request. */
export interface GeminiMedia {
  /** A data URL, a URL (`https:`, `gs:`), or bare base64. */
  readonly source: string;
  /** As given in the request; empty if it is not. */
  readonly mimeType: string;
  /** The file's name, which tells the type if nothing else does. */
  readonly filename?: unknown;
  /** Default type of bare base64; absent if the type must be given. */
  readonly fallback?: string;
  /** Name of the parameter, for errors. */
  readonly parameter: string;
}

/** A part with the bytes themselves (`inlineData`) or with their URL (`fileData`). https://ai.google.dev/api/caching#Part */
export function mediaPart(media: GeminiMedia, host: Host): Json {
  if (/^(https?|gs):\/\//i.test(media.source)) return byAddress(media, host);
  const { source, mimeType: mime_type, filename, parameter, fallback } = media;
  const file = inlineFile(source, { mime_type, filename });
  if (/^data:/i.test(source) && !file.isDataUrl)
    return refuseParameter(parameter, 'the data URL has no data');
  const mimeType = file.type || fallback;
  if (mimeType === undefined) return refuseParameter(parameter, 'its mime_type is missing');
  const data = file.isBase64 ? file.data : base64OfFile(file);
  return { inlineData: { mimeType, data: data ?? refuseParameter(parameter, 'the data URL is malformed') } };
}

function byAddress({ source, mimeType, filename, parameter }: GeminiMedia, host: Host): Json {
  const byName = typeof filename === 'string' ? mediaTypeByName(filename) : undefined;
  const type = mimeType || byName || mediaTypeByName(source);
  if (type !== undefined) return { fileData: { mimeType: type, fileUri: source } };
  if (host.needsMimeType)
    refuseParameter(parameter, 'the URL does not show the type of the file, so mime_type is required');
  return { fileData: { fileUri: source } };
}
