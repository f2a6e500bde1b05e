import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import { spokenIn } from '../spoken.js';
import { CallItem, type CallStart } from './call-item.js';
import { Calls } from './calls.js';
import { MessageItem, annotationOf } from './message-item.js';
import type { Emit, ItemStatus, OutputItem, OutputPosition } from './output-item.js';
import { ReasoningItem } from './reasoning-item.js';
import type { CallKind, ToolNames } from './tool-names.js';

type ItemIdPrefix = 'rs' | 'msg' | 'fc' | 'ctc' | 'tsc';

const CALL_IDS: Readonly<Record<CallKind, ItemIdPrefix>> = {
  function: 'fc',
  custom: 'ctc',
  tool_search: 'tsc',
};

/** How the items of one response are built. */
export interface OutputOptions {
  readonly emit: Emit;
  /** Suffix of all items' ids, before their number. */
  readonly idSuffix: string;
  readonly isSummary: boolean;
  /** The client's tools by their name at the provider. */
  readonly tools: ToolNames;
  /** The client takes one call at a time (`parallel_tool_calls: false`), also of a provider that cannot limit them. */
  readonly isSingleCall: boolean;
}

/**
 * The output of a response, grown from the pieces of the hub's; a whole response is one piece. Reasoning and text end when another item
 * begins; calls end with the response.
 */
export class Output {
  private readonly items: { readonly item: OutputItem; isOpen: boolean }[] = [];
  private current: ReasoningItem | MessageItem | null = null;
  private readonly calls: Calls;
  private hasCalled = false;

  constructor(private readonly options: OutputOptions) {
    this.calls = new Calls((called) => this.openCall(called));
  }

  /** A `delta`, or a whole `message`, and the log probabilities beside it. Never throws. */
  add(delta: Json, logprobs: unknown): void {
    const { reasoning_content, reasoning, content_blocks, content, refusal, annotations, tool_calls } = delta;
    this.addReasoning(textOf(reasoning_content ?? reasoning), content_blocks);
    this.addContent(content, isObject(logprobs) ? list(logprobs.content) : []);
    const cited = list(annotations).flatMap(annotationOf);
    if (cited.length > 0) this.message().addAnnotations(cited);
    const refused = textOf(refusal);
    if (refused !== '') this.message().addRefusal(refused);
    this.addCallData(tool_calls);
    this.calls.add(tool_calls);
  }

  /** Ends all items; the last one of a truncated response is incomplete. */
  close(isComplete: boolean): void {
    this.current = null;
    const last = this.items.length - 1;
    for (const [index] of this.items.entries()) this.closeAt(index, statusOf(index === last, isComplete));
  }

  /** The items so far, the last with the status of the whole response. */
  snapshot(isComplete: boolean): readonly Json[] {
    const last = this.items.length - 1;
    return this.items.map(({ item }, index) => item.snapshot(statusOf(index === last, isComplete)));
  }

  private addReasoning(text: string, blocks: unknown): void {
    const isSigned = list(blocks).some(isReasoningBlock);
    if (text === '' && !isSigned) return;
    const item = this.reasoning();
    if (text !== '') item.add(text);
    if (isSigned) item.addBlocks(blocks);
  }

  /** A provider's data of its calls goes into the reasoning before them. */
  private addCallData(calls: unknown): void {
    for (const call of list(calls)) {
      if (!isObject(call) || !isObject(call.extra_content)) continue;
      const id = textOf(call.id);
      if (id !== '') this.reasoning().addCall(id, call.extra_content);
    }
  }

  /** A string, or Mistral's list of parts, which includes its reasoning. */
  private addContent(content: unknown, logprobs: readonly unknown[]): void {
    const isWhole = !Array.isArray(content);
    for (const { text, isThought } of spokenIn(content)) {
      if (isThought) this.reasoning().add(text);
      else this.message().addText(text, isWhole ? logprobs : []);
    }
  }

  private reasoning(): ReasoningItem {
    if (this.current instanceof ReasoningItem) return this.current;
    const { emit, isSummary } = this.options;
    return this.begin(new ReasoningItem(this.nextPlace('rs'), emit, isSummary));
  }

  private message(): MessageItem {
    if (this.current instanceof MessageItem) return this.current;
    return this.begin(new MessageItem(this.nextPlace('msg'), this.options.emit));
  }

  private begin<T extends ReasoningItem | MessageItem>(item: T): T {
    this.items.push({ item, isOpen: true });
    this.current = item;
    return item;
  }

  private openCall(called: CallStart): CallItem | null {
    const { emit, tools, isSingleCall } = this.options;
    if (isSingleCall && this.hasCalled) return null;
    this.hasCalled = true;
    const tool = tools.find(called.name) ?? { kind: 'function', name: called.name };
    const place = this.nextPlace(CALL_IDS[tool.kind]);
    const item = new CallItem(place, emit, { ...tool, call_id: called.call_id });
    this.items.push({ item, isOpen: true });
    return item;
  }

  /** The position after the current item, which ends here. */
  private nextPlace(kind: ItemIdPrefix): OutputPosition {
    if (this.current)
      this.closeAt(
        this.items.findIndex(({ item }) => item === this.current),
        'completed',
      );
    this.current = null;
    const output_index = this.items.length;
    return { id: `${kind}_${this.options.idSuffix}${output_index}`, output_index };
  }

  private closeAt(index: number, status: ItemStatus): void {
    const entry = this.items[index];
    if (!entry?.isOpen) return;
    entry.isOpen = false;
    entry.item.close(status);
  }
}

const statusOf = (isLast: boolean, isComplete: boolean): ItemStatus =>
  isComplete || !isLast ? 'completed' : 'incomplete';

function isReasoningBlock(piece: unknown): boolean {
  if (!isObject(piece) || !isObject(piece.delta)) return false;
  const { thinking, signature, data } = piece.delta;
  return [thinking, signature, data].some((value) => typeof value === 'string');
}
