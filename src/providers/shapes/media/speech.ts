import type { Json } from '../../endpoint.js';
import { MediaFile } from '../../translation.js';

/**
 * Speech that a provider tells as JSON: the hub has it as `{ audio, content_type }`, base64. An answer without sound stays
 * JSON.
 */
export function speechOf(hub: Json): Json | MediaFile {
  const { audio, content_type: type } = hub;
  if (typeof audio !== 'string' || audio === '') return hub;
  return new MediaFile(typeof type === 'string' ? type : 'audio/mpeg', Buffer.from(audio, 'base64'));
}
