import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import type { CallStart, CallItem } from './call-item.js';

/** A call whose name has not arrived yet, with its arguments so far. */
interface AwaitedCall {
  id: string;
  input: string;
}

/** Opens an item of the response; null for a call that the client does not receive. */
export type OpenCall = (called: CallStart) => CallItem | null;

/** Tool calls by their index in the hub's stream. Their pieces may be interleaved, so each stays open until the response ends. */
export class Calls {
  private readonly open = new Map<number, { id: string; item: CallItem | null }>();
  private readonly awaited = new Map<number, AwaitedCall>();

  constructor(private readonly openCall: OpenCall) {}

  /** `tool_calls` of a message or a chunk. Invalid entries are skipped. */
  add(calls: unknown): void {
    for (const [position, call] of list(calls).entries()) {
      if (!isObject(call)) continue;
      this.addPiece(Number.isSafeInteger(call.index) ? (call.index as number) : position, call);
    }
  }

  private addPiece(index: number, call: Json): void {
    const id = textOf(call.id);
    const { name, input } = calledIn(call);
    const known = this.openAt(index, id);
    if (known) grow(known.item, input, call);
    else this.begin(index, { name, id, input, call });
  }

  /** Some providers give every call the index 0: another id is another call. */
  private openAt(index: number, id: string): { item: CallItem | null } | null {
    const known = this.open.get(index);
    return known && (id === '' || id === known.id) ? known : null;
  }

  private begin(index: number, { name, id, input, call }: Beginning): void {
    const earlier = this.awaited.get(index) ?? { id: '', input: '' };
    const begun = { id: id || earlier.id, input: earlier.input + input };
    if (name === '') {
      this.awaited.set(index, begun);
      return;
    }
    this.awaited.delete(index);
    const call_id = begun.id || `call_${index}_${name}`;
    const item = this.openCall({ call_id, name });
    this.open.set(index, { id: begun.id, item });
    grow(item, begun.input, call);
  }
}

interface Beginning {
  readonly name: string;
  readonly id: string;
  readonly input: string;
  readonly call: Json;
}

function grow(item: CallItem | null, input: string, call: Json): void {
  if (input !== '') item?.add(input);
  item?.keep(call.extra_content);
}

function calledIn(call: Json): { name: string; input: string } {
  const called = isObject(call.function) ? call.function : {};
  return { name: textOf(called.name), input: textOf(called.arguments) };
}
