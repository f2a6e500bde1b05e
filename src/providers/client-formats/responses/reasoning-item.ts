import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import {
  type Emit,
  type ItemStatus,
  type OutputItem,
  type OutputPosition,
  added,
  done,
} from './output-item.js';
import { callBlock, knownBlock, sealReasoning } from './sealing.js';

interface ReasoningFieldNames {
  readonly part: string;
  readonly index: string;
  readonly added: string;
  readonly delta: string;
  readonly done: string;
  readonly partDone: string;
}

/** The full reasoning in `content`, as models with open weights show it. */
const AS_TEXT: ReasoningFieldNames = {
  part: 'reasoning_text',
  index: 'content_index',
  added: 'response.content_part.added',
  delta: 'response.reasoning_text.delta',
  done: 'response.reasoning_text.done',
  partDone: 'response.content_part.done',
};

/** For clients that requested a summary, and show nothing else. */
const AS_SUMMARY: ReasoningFieldNames = {
  part: 'summary_text',
  index: 'summary_index',
  added: 'response.reasoning_summary_part.added',
  delta: 'response.reasoning_summary_text.delta',
  done: 'response.reasoning_summary_text.done',
  partDone: 'response.reasoning_summary_part.done',
};

/** Whether the client requested a summary of the reasoning. */
export function isSummaryRequested({ reasoning }: Json): boolean {
  return isObject(reasoning) && typeof (reasoning.summary ?? reasoning.generate_summary) === 'string';
}

/**
 * Reasoning while it grows. A block's signature follows its text, so everything to be sent back is sealed when the item closes.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ReasoningItem implements OutputItem {
  private readonly words: ReasoningFieldNames;
  private text = '';
  private hasPart = false;
  private readonly blocks = new Map<number, Record<string, string>>();
  private readonly calls: Json[] = [];

  constructor(
    private readonly place: OutputPosition,
    private readonly emit: Emit,
    private readonly isSummary: boolean,
  ) {
    this.words = isSummary ? AS_SUMMARY : AS_TEXT;
    added(emit, place, this.snapshot('in_progress'));
  }

  add(text: string): void {
    if (!this.hasPart) this.emitEvent(this.words.added, { part: this.part() });
    this.hasPart = true;
    this.text += text;
    this.emitEvent(this.words.delta, { delta: text });
  }

  /** `delta.content_blocks` of a chunk: pieces of the provider's own blocks. The response's text is not kept here. */
  addBlocks(pieces: unknown): void {
    for (const piece of list(pieces)) {
      if (!isObject(piece) || !isObject(piece.delta) || !Number.isSafeInteger(piece.index)) continue;
      const block = this.blocks.get(piece.index as number) ?? {};
      for (const name of ['thinking', 'signature', 'data'] as const) {
        const value = piece.delta[name];
        if (typeof value === 'string') block[name] = (block[name] ?? '') + value;
      }
      this.blocks.set(piece.index as number, block);
    }
  }

  /** The provider's own data of a tool call that follows. */
  addCall(id: string, extraContent: Json): void {
    this.calls.push(callBlock(id, extraContent));
  }

  snapshot(status: ItemStatus): Json {
    const parts = this.hasPart ? [this.part()] : [];
    const sealed = sealReasoning([...this.signedBlocks(), ...this.calls]);
    return {
      id: this.place.id,
      type: 'reasoning',
      status,
      summary: this.isSummary ? parts : [],
      ...(!this.isSummary && { content: parts }),
      ...(sealed !== null && { encrypted_content: sealed }),
    };
  }

  close(status: ItemStatus): void {
    if (this.hasPart) {
      this.emitEvent(this.words.done, { text: this.text });
      this.emitEvent(this.words.partDone, { part: this.part() });
    }
    done(this.emit, this.place, this.snapshot(status));
  }

  /** A block without a signature is useless to its provider; its text is in the item anyway. */
  private signedBlocks(): readonly Json[] {
    return [...this.blocks.values()].flatMap(({ thinking, signature, data }) => {
      if (data !== undefined) return knownBlock({ type: 'redacted_thinking', data });
      return signature === undefined
        ? []
        : knownBlock({ type: 'thinking', thinking: thinking ?? '', signature });
    });
  }

  private part(): Json {
    return { type: this.words.part, text: this.text };
  }

  private emitEvent(type: string, fields: Json): void {
    const { id, output_index } = this.place;
    this.emit(type, { item_id: id, output_index, [this.words.index]: 0, ...fields });
  }
}
