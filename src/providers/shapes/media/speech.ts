import type { Json } from '../../endpoint.js';
import { MediaFile } from '../../translation.js';

/**
 * Speech from a provider that responds with JSON: the hub has it as `{ audio, content_type }`, base64. A response without audio stays JSON.
 */
export function speechOf(hub: Json): Json | MediaFile {
  const { audio, content_type: type } = hub;
  if (typeof audio !== 'string' || audio === '') return hub;
  return new MediaFile(typeof type === 'string' ? type : 'audio/mpeg', Buffer.from(audio, 'base64'));
}
