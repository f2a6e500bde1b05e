import type { EndpointId, Json } from '../../endpoint.js';
import type { MediaFile } from '../../translation.js';
import { speechOf } from './speech.js';
import { transcriptOf } from './transcript.js';

/** Response formats other than the hub's JSON, by the hub's endpoint. */
const FORMS: Readonly<Partial<Record<EndpointId, (hub: Json, asked: Json) => Json | MediaFile>>> = {
  speech: speechOf,
  transcriptions: transcriptOf,
  translations: transcriptOf,
};

/** The hub's response in the format that a client of the hub requested: JSON, text, subtitles, audio. */
export const rendered = (endpoint: EndpointId, hub: Json, asked: Json): Json | MediaFile =>
  FORMS[endpoint]?.(hub, asked) ?? hub;
