import { type EventTranslator, type HubError, NOTHING, UNNOTED } from '../../providers/translation.js';
import { parsedObject } from '../journal/metering.js';
import { hubErrorOf } from './hub-error.js';

const DONE = '[DONE]';

/** The events of a provider that speaks the hub's own shape. */
export function hubEvents(): EventTranslator {
  return {
    event: ({ data }) => {
      if (data.trim() === DONE) return { chunks: [], isDone: true };
      const chunk = parsedObject(data);
      if (!chunk) return NOTHING;
      return isError(chunk.error)
        ? { chunks: [], error: hubErrorOf(502, chunk) }
        : { chunks: [chunk], again: UNNOTED };
    },
    end: () => NOTHING,
  };
}

function isError(value: unknown): value is HubError {
  return typeof value === 'object' && value !== null;
}
