import type { Json } from '../../endpoint.js';
import { count, isObject, list, textOf } from '../../endpoints/reading.js';
import {
  type Emit,
  type ItemStatus,
  type OutputItem,
  type OutputPosition,
  added,
  done,
} from './output-item.js';

type PartType = 'output_text' | 'refusal';

interface MessageItemPart {
  readonly type: PartType;
  text: string;
  readonly annotations: Json[];
  readonly logprobs: Json[];
}

/**
 * An assistant's message while it grows: text with its annotations, and a refusal.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class MessageItem implements OutputItem {
  private readonly parts: MessageItemPart[] = [];

  constructor(
    private readonly place: OutputPosition,
    private readonly emit: Emit,
  ) {
    added(emit, place, this.snapshot('in_progress'));
  }

  addText(text: string, tokens: readonly unknown[]): void {
    const part = this.partFor('output_text');
    const logprobs = tokens.flatMap(logprobOf);
    part.text += text;
    for (const logprob of logprobs) part.logprobs.push(logprob);
    this.emitEvent('response.output_text.delta', { delta: text, logprobs });
  }

  addRefusal(text: string): void {
    this.partFor('refusal').text += text;
    this.emitEvent('response.refusal.delta', { delta: text });
  }

  addAnnotations(annotations: readonly Json[]): void {
    for (const annotation of annotations) {
      const part = this.partFor('output_text');
      const annotation_index = part.annotations.push(annotation) - 1;
      this.emitEvent('response.output_text.annotation.added', { annotation_index, annotation });
    }
  }

  snapshot(status: ItemStatus): Json {
    const { id } = this.place;
    return { id, type: 'message', status, role: 'assistant', content: this.parts.map(partOf) };
  }

  close(status: ItemStatus): void {
    this.closePart();
    done(this.emit, this.place, this.snapshot(status));
  }

  private partFor(type: PartType): MessageItemPart {
    const open = this.parts.at(-1);
    if (open?.type === type) return open;
    this.closePart();
    const part: MessageItemPart = { type, text: '', annotations: [], logprobs: [] };
    this.parts.push(part);
    this.emitEvent('response.content_part.added', { part: partOf(part) });
    return part;
  }

  private closePart(): void {
    const part = this.parts.at(-1);
    if (!part) return;
    if (part.type === 'refusal') this.emitEvent('response.refusal.done', { refusal: part.text });
    else this.emitEvent('response.output_text.done', { text: part.text, logprobs: [...part.logprobs] });
    this.emitEvent('response.content_part.done', { part: partOf(part) });
  }

  private emitEvent(type: string, fields: Json): void {
    const { id, output_index } = this.place;
    this.emit(type, { item_id: id, output_index, content_index: this.parts.length - 1, ...fields });
  }
}

/** A copy, so that emitted parts do not grow afterwards. */
function partOf({ type, text, annotations, logprobs }: MessageItemPart): Json {
  if (type === 'refusal') return { type, refusal: text };
  return { type, text, annotations: [...annotations], logprobs: [...logprobs] };
}

/** A citation of the hub, which has the same fields one level deeper; empty if it is not one. */
export function annotationOf(annotation: unknown): readonly Json[] {
  if (!isObject(annotation) || annotation.type !== 'url_citation' || !isObject(annotation.url_citation))
    return [];
  const { url, title, start_index, end_index } = annotation.url_citation;
  if (typeof url !== 'string') return [];
  const places = { start_index: count(start_index) ?? 0, end_index: count(end_index) ?? 0 };
  return [{ type: 'url_citation', url, title: textOf(title), ...places }];
}

/** The hub's log probabilities of tokens, which have the same format here. */
function logprobOf(item: unknown): readonly Json[] {
  if (!isObject(item) || typeof item.token !== 'string' || typeof item.logprob !== 'number') return [];
  const { token, logprob, bytes, top_logprobs } = item;
  return [
    { token, logprob, bytes: numbersIn(bytes), top_logprobs: list(top_logprobs).flatMap(topLogprobOf) },
  ];
}

function topLogprobOf(item: unknown): readonly Json[] {
  if (!isObject(item) || typeof item.token !== 'string' || typeof item.logprob !== 'number') return [];
  return [{ token: item.token, logprob: item.logprob, bytes: numbersIn(item.bytes) }];
}

const numbersIn = (value: unknown): readonly unknown[] =>
  list(value).filter((item) => typeof item === 'number');
