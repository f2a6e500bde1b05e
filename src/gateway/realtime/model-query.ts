import { modelTarget } from '../planning/model-target.js';

/** The model in a session's query. */
export interface RealtimeModelQuery {
  /** With its `?`; the client's own bytes, except for a model that names its target. */
  readonly query: string;
  readonly model: string | null;
  /** Slug that the model named, `@slug/model`. */
  readonly slug: string | null;
}

const MODEL_CHARS_MAX = 256;

/** The parameter of a session's model: OpenAI's `model`, or the deployment of Azure's dated versions. */
const PARAMETER = /([?&])(model|deployment)=([^&]*)/;

/** Reads the model of a session, `?model=gpt-realtime` or `?model=@slug/gpt-realtime`. */
export function modelQuery(query: string): RealtimeModelQuery {
  const [whole, mark = '', name = '', value = ''] = PARAMETER.exec(query) ?? [];
  if (whole === undefined) return { query, model: null, slug: null };
  const asked = decoded(value);
  const named = modelTarget(asked);
  const model = (named?.model ?? asked).slice(0, MODEL_CHARS_MAX) || null;
  if (!named) return { query, model, slug: null };
  const rewritten = query.replace(PARAMETER, () => `${mark}${name}=${encodeURIComponent(named.model)}`);
  return { query: rewritten, model, slug: named.slug };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
