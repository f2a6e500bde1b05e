import type { Json } from '../../providers/endpoint.js';
import { isObject, list } from '../../providers/endpoints/reading.js';
import { type EventTranslator, NOTHING, UNNOTED } from '../../providers/translation.js';
import { parsedObject } from '../recording/reading.js';
import { hubErrorOf } from './hub-error.js';

const DONE = '[DONE]';

/**
 * The events of a provider that uses the hub's own format. Some omit `[DONE]` (https://github.com/perplexityai/api-discussion/issues/209):
 * a stream that closes after each choice has reported its finish reason is complete.
 */
export function hubEvents(): EventTranslator {
  const answers = new Answers();
  return {
    event: ({ data }) => {
      if (data.trim() === DONE) return { chunks: [], isDone: true };
      const chunk = parsedObject(data);
      if (!chunk) return NOTHING;
      if (isError(chunk.error)) return { chunks: [], error: hubErrorOf(502, chunk) };
      answers.note(chunk);
      return { chunks: [chunk], again: UNNOTED };
    },
    end: () => (answers.areWhole ? { chunks: [], isDone: true } : NOTHING),
  };
}

/** Tracks which of the choices, of which there may be several (`n`), have ended. */
class Answers {
  private readonly begun = new Set<unknown>();
  private readonly ended = new Set<unknown>();

  get areWhole(): boolean {
    return this.ended.size > 0 && this.ended.size === this.begun.size;
  }

  note({ choices }: Json): void {
    for (const choice of list(choices)) {
      if (!isObject(choice)) continue;
      const index = choice.index ?? 0;
      this.begun.add(index);
      if (typeof choice.finish_reason === 'string') this.ended.add(index);
    }
  }
}

/** An object as in OpenAI's format, or only the text. */
function isError(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || (typeof value === 'string' && value !== '');
}
