import type { Json } from '../../providers/endpoint.js';
import { clientShapes } from '../../providers/shapes/index.js';
import type { Context, HubError } from '../../providers/translation.js';
import type { Entry } from '../recording/entry.js';
import { encodeSse } from '../framing/index.js';

/** The end of a stopped stream, in the client's dialect. */
export function streamFailure(error: HubError, entry: Entry, context?: Context): string {
  const shape = entry.endpoint ? clientShapes[entry.endpoint.id] : undefined;
  const asked: Json = entry.trail.body ?? {};
  const client = shape?.open(asked, context ?? contextOf(entry));
  const events = client?.fail(error) ?? [{ event: null, data: JSON.stringify({ error }) }];
  return events.map(encodeSse).join('');
}

function contextOf({ id, createdAt, trail: { model, isStreamed } }: Entry): Context {
  return {
    id,
    created: Math.floor(createdAt / 1000),
    model: model ?? '',
    isStreamed,
    fields: {},
    isStrict: true,
  };
}
