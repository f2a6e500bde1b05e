import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { type Emit, type ItemStatus, type OutputItem, type OutputPlace, added, done } from './output-item.js';

/** The beginning of a tool call. */
export interface CallStart {
  readonly kind: 'function' | 'custom';
  readonly call_id: string;
  readonly name: string;
  /** Of a tool in a namespace. */
  readonly namespace?: string;
}

const WORDS = {
  function: { type: 'function_call', input: 'arguments', event: 'response.function_call_arguments' },
  custom: { type: 'custom_tool_call', input: 'input', event: 'response.custom_tool_call_input' },
} as const;

/** A tool call, while its arguments grow. https://platform.openai.com/docs/api-reference/responses-streaming */
export class CallItem implements OutputItem {
  private input = '';
  private own: Json | null = null;

  constructor(
    private readonly place: OutputPlace,
    private readonly emit: Emit,
    private readonly called: CallStart,
  ) {
    added(emit, place, this.snapshot('in_progress'));
  }

  add(input: string): void {
    this.input += input;
    this.tell('delta', { delta: input });
  }

  /** A provider's own data of the call. Clients send it back in the item. */
  keep(extraContent: unknown): void {
    if (isObject(extraContent)) this.own = extraContent;
  }

  snapshot(status: ItemStatus): Json {
    const { kind, call_id, name, namespace } = this.called;
    const { type, input } = WORDS[kind];
    return {
      id: this.place.id,
      type,
      status,
      call_id,
      name,
      ...(namespace !== undefined && { namespace }),
      [input]: this.input,
      ...(this.own && { extra_content: this.own }),
    };
  }

  close(status: ItemStatus): void {
    const { kind, name } = this.called;
    this.tell('done', { [WORDS[kind].input]: this.input, ...(kind === 'function' && { name }) });
    done(this.emit, this.place, this.snapshot(status));
  }

  private tell(what: 'delta' | 'done', fields: Json): void {
    const { id, output_index } = this.place;
    this.emit(`${WORDS[this.called.kind].event}.${what}`, { item_id: id, output_index, ...fields });
  }
}
