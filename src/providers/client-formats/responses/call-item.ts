import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { CustomInput } from './custom-input.js';
import {
  type Emit,
  type ItemStatus,
  type OutputItem,
  type OutputPosition,
  added,
  done,
} from './output-item.js';
import type { CallKind, DeclaredTool } from './tool-names.js';

/** The beginning of a tool call. */
export interface CallStart {
  readonly call_id: string;
  /** At the provider. */
  readonly name: string;
}

/** The call of a tool that the client declares. */
export interface DeclaredCall extends DeclaredTool {
  readonly call_id: string;
}

/** Reads a call's input from the arguments of its function. */
interface InputReader {
  /** The text that a piece of the arguments adds. */
  add(piece: string): string;
  end(): string;
  readonly value: string;
}

interface CallWords {
  readonly type: string;
  readonly open: () => InputReader;
  /** The fields of an item that say what is called, and with what. */
  readonly fields: (called: DeclaredCall, input: string) => Json;
  /** The name of the input in the events about it, which all begin with this; null for items without such events. */
  readonly events: { readonly prefix: string; readonly input: string } | null;
}

/** The arguments of a function are passed on as they are. */
class Arguments implements InputReader {
  value = '';

  add(piece: string): string {
    this.value += piece;
    return piece;
  }

  end(): string {
    return '';
  }
}

const named = ({ name, namespace }: DeclaredTool): Json => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

/**
 * The items of each kind of call. https://platform.openai.com/docs/api-reference/responses-streaming,
 * https://developers.openai.com/api/docs/guides/tools-tool-search
 */
const WORDS: Readonly<Record<CallKind, CallWords>> = {
  function: {
    type: 'function_call',
    open: () => new Arguments(),
    fields: (called, input) => ({ ...named(called), arguments: input }),
    events: { prefix: 'response.function_call_arguments', input: 'arguments' },
  },
  custom: {
    type: 'custom_tool_call',
    open: () => new CustomInput(),
    fields: (called, input) => ({ ...named(called), input }),
    events: { prefix: 'response.custom_tool_call_input', input: 'input' },
  },
  tool_search: {
    type: 'tool_search_call',
    open: () => new Arguments(),
    fields: (_called, input) => ({ execution: 'client', arguments: objectIn(input) }),
    events: null,
  },
};

/** A tool call, while its arguments grow. */
export class CallItem implements OutputItem {
  private readonly words: CallWords;
  private readonly input: InputReader;
  private own: Json | null = null;

  constructor(
    private readonly place: OutputPosition,
    private readonly emit: Emit,
    private readonly called: DeclaredCall,
  ) {
    this.words = WORDS[called.kind];
    this.input = this.words.open();
    added(emit, place, this.snapshot('in_progress'));
  }

  add(piece: string): void {
    this.tellDelta(this.input.add(piece));
  }

  /** A provider's own data of the call. Clients send it back in the item. */
  keep(extraContent: unknown): void {
    if (isObject(extraContent)) this.own = extraContent;
  }

  snapshot(status: ItemStatus): Json {
    const { call_id } = this.called;
    const { type, fields } = this.words;
    return {
      ...{ id: this.place.id, type, status, call_id },
      ...fields(this.called, this.input.value),
      ...(this.own && { extra_content: this.own }),
    };
  }

  close(status: ItemStatus): void {
    const { kind, name } = this.called;
    const { events } = this.words;
    this.tellDelta(this.input.end());
    if (events)
      this.emitEvent('done', { [events.input]: this.input.value, ...(kind === 'function' && { name }) });
    done(this.emit, this.place, this.snapshot(status));
  }

  private tellDelta(delta: string): void {
    if (delta !== '') this.emitEvent('delta', { delta });
  }

  private emitEvent(what: 'delta' | 'done', fields: Json): void {
    const { id, output_index } = this.place;
    const { events } = this.words;
    if (events) this.emit(`${events.prefix}.${what}`, { item_id: id, output_index, ...fields });
  }
}

function objectIn(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
