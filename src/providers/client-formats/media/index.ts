import type { EndpointId, Json } from '../../endpoint.js';
import { MediaFile } from '../../translation.js';
import { transcriptOf } from './transcript.js';

/** Response formats other than the hub's JSON, by the hub's endpoint. */
const FORMS: Readonly<Partial<Record<EndpointId, (hub: Json, request: Json) => Json | MediaFile>>> = {
  speech: speechOf,
  transcriptions: transcriptOf,
  translations: transcriptOf,
};

/** The hub's response in the format that a client of the hub requested: JSON, text, subtitles, audio. */
export const rendered = (endpoint: EndpointId, hub: Json, request: Json): Json | MediaFile =>
  FORMS[endpoint]?.(hub, request) ?? hub;

/**
 * Speech from a provider that responds with JSON: the hub has it as `{ audio, content_type }`, base64. A response without audio stays JSON.
 */
function speechOf(hub: Json): Json | MediaFile {
  const { audio, content_type: type } = hub;
  if (typeof audio !== 'string' || audio === '') return hub;
  return new MediaFile(typeof type === 'string' ? type : 'audio/mpeg', Buffer.from(audio, 'base64'));
}
