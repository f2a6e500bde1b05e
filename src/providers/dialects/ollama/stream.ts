import type { Json } from '../../endpoint.js';
import { isObject, textOf } from '../../endpoints/reading.js';
import {
  type Context,
  type EventTranslator,
  NOTHING,
  type StreamEvent,
  type TranslatedEvent,
} from '../../translation.js';
import { ollamaCalls, finishOf, ollamaUsage } from './answer.js';
import { ollamaError } from './errors.js';

/** Ollama's stream, a JSON object per line, on its way to the hub. https://docs.ollama.com/api/streaming */
export class OllamaStream implements EventTranslator {
  private calls = 0;
  private hasBegun = false;

  constructor(private readonly context: Context) {}

  event({ data }: StreamEvent): TranslatedEvent {
    const line = parsed(data);
    if (!line) return NOTHING;
    if (line.error !== undefined) return { chunks: [], error: ollamaError(500, line) };
    const messageDeltas = this.messageDeltas(isObject(line.message) ? line.message : {});
    return line.done === true
      ? { chunks: [...messageDeltas, ...this.last(line)], isDone: true }
      : { chunks: messageDeltas };
  }

  end(): TranslatedEvent {
    return NOTHING;
  }

  private messageDeltas(message: Json): readonly Json[] {
    const deltas: Json[] = [];
    const thinking = textOf(message.thinking);
    const text = textOf(message.content);
    if (thinking !== '') deltas.push({ reasoning_content: thinking });
    if (text !== '') deltas.push({ content: text });
    const called = ollamaCalls(message, this.calls, this.context.id);
    this.calls += called.length;
    if (called.length > 0) deltas.push({ tool_calls: called.map(({ index, call }) => ({ index, ...call })) });
    if (!this.hasBegun) deltas.unshift({ role: 'assistant', content: '' });
    this.hasBegun = true;
    return deltas.map((delta) => this.chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]));
  }

  private last(line: Json): readonly Json[] {
    const finish = finishOf(line, this.calls > 0, this.context);
    const end = this.chunk([{ index: 0, delta: {}, logprobs: null, ...finish }]);
    const usage = ollamaUsage(line);
    return usage ? [end, { ...this.chunk([]), usage }] : [end];
  }

  private chunk(choices: readonly Json[]): Json {
    const { id, created, model } = this.context;
    return { id, object: 'chat.completion.chunk', created, model, choices };
  }
}

function parsed(data: string): Json | null {
  try {
    const line: unknown = JSON.parse(data);
    return isObject(line) ? line : null;
  } catch {
    return null;
  }
}
