import { jsonText } from '../../../common/json/deep-json.js';
import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/**
 * A custom tool takes any text, and other providers have functions only: there, it is a function with this text as its only argument.
 * https://developers.openai.com/api/docs/guides/function-calling#custom-tools
 */
const ARGUMENT = 'input';

/** The parameters of the function that stands for a custom tool. */
export const CUSTOM_PARAMETERS: Json = {
  type: 'object',
  properties: { [ARGUMENT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [ARGUMENT],
  additionalProperties: false,
};

/** The arguments of a call of that function. */
export const argumentsOfInput = (input: string): string => jsonText({ [ARGUMENT]: input });

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** The longest prefix of a string literal that is whole: without half an escape, and up to its end. */
const WHOLE = /^(?:[^"\\]|\\[^u]|\\u[0-9A-Fa-f]{4})*/;

/** Reads the input of a custom tool from the arguments of its function, while they arrive in pieces. */
export class CustomInput {
  private written = '';
  /** Where the next piece of the text begins; null before the text. */
  private at: number | null = null;
  private text = '';

  /** The text that a piece of the arguments adds. */
  add(piece: string): string {
    this.written += piece;
    this.at ??= OPENING.exec(this.written)?.[0].length ?? null;
    if (this.at === null) return '';
    const [literal] = WHOLE.exec(this.written.slice(this.at)) ?? [''];
    const whole = withoutHalfPair(literal);
    this.at += whole.length;
    return this.inputDelta(decoded(whole));
  }

  /** The rest of the text. Arguments of another form, as models sometimes write, are the input themselves. */
  end(): string {
    const whole = inputIn(this.written);
    return whole.startsWith(this.text) ? this.inputDelta(whole.slice(this.text.length)) : '';
  }

  get value(): string {
    return this.text;
  }

  private inputDelta(text: string): string {
    this.text += text;
    return text;
  }
}

/** The first half of a surrogate pair waits for its second. */
const withoutHalfPair = (literal: string): string =>
  literal.replace(/(?:\\u[dD][89abAB][0-9A-Fa-f]{2}|[\ud800-\udbff])$/, '');

function decoded(literal: string): string {
  try {
    // A provider may leave line breaks unescaped.
    return JSON.parse(`"${literal.replace(/[\u0000-\u001f]/g, escaped)}"`) as string;
  } catch {
    return literal;
  }
}

const escaped = (control: string): string => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

function inputIn(written: string): string {
  try {
    const value: unknown = JSON.parse(written);
    if (isObject(value) && typeof value[ARGUMENT] === 'string') return value[ARGUMENT];
  } catch {
    // The arguments are the input.
  }
  return written;
}
