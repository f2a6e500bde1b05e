import { inspect } from 'node:util';

const MASK = '***';

/**
 * A secret in memory. Printing, logging, serializing or inspecting it shows `***`; only `reveal()` returns the value, so that all such
 * places are easy to find.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
