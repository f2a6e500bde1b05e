import { complain, say } from './terminal.js';

/** The option of every command that reports something. */
export interface JsonOption {
  /** One JSON document on standard output instead of text. */
  readonly json?: boolean;
}

/** Where a command reports: text on standard output; with `--json` one JSON document there, and the text on standard error. */
export class CommandOutput {
  private readonly isJson: boolean;

  constructor({ json = false }: JsonOption) {
    this.isJson = json;
  }

  /** A line for people. */
  readonly say = (text: string): void => (this.isJson ? complain(text) : say(text));

  /** What the command found or did. Called once, at its end. Nothing is printed without `--json`. */
  result(document: object): void {
    if (this.isJson) say(JSON.stringify(document, withBigInts));
  }
}

/** Amounts beyond 2^53 must stay exact, so they are strings. */
const withBigInts = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
