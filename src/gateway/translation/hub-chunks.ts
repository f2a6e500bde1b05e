import type { Json } from '../../providers/endpoint.js';
import type { ChunkTranslator, StreamEvent } from '../../providers/translation.js';

const DONE: readonly StreamEvent[] = [{ event: null, data: '[DONE]' }];

/** A stream for clients of the hub's own format, which receive the usage only on request. */
export function hubChunks(asked: Json): ChunkTranslator {
  const options = asked.stream_options as { include_usage?: unknown } | null | undefined;
  const wantsUsage = options?.include_usage === true;
  return {
    chunk: (hub) => (wantsUsage || !isUsageAlone(hub) ? [{ event: null, data: JSON.stringify(hub) }] : []),
    isUniform: true,
    end: () => DONE,
    fail: (error) => [{ event: null, data: JSON.stringify({ error }) }],
  };
}

function isUsageAlone({ choices, usage }: Json): boolean {
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined;
}
