import type { EndpointId, Json } from '../../endpoint.js';
import type { MediaFile } from '../../translation.js';
import { speechOf } from './speech.js';
import { transcriptOf } from './transcript.js';

/** Answers that clients may want in another form than the hub's JSON, by the hub's endpoint. */
const FORMS: Readonly<Partial<Record<EndpointId, (hub: Json, asked: Json) => Json | MediaFile>>> = {
  speech: speechOf,
  transcriptions: transcriptOf,
  translations: transcriptOf,
};

/** The hub's answer as a client of the hub's shape asked for it: JSON, text, subtitles, sound. */
export const rendered = (endpoint: EndpointId, hub: Json, asked: Json): Json | MediaFile =>
  FORMS[endpoint]?.(hub, asked) ?? hub;
