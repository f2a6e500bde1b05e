import type { ApiError } from '../../api/client';
import type { Document } from '../../api/configs';
import { brokenLine, lineOf } from '../../parts/json/json-places';
import { configWords as texts } from '../../words/configs';

export interface Mistake {
  readonly line: number;
  readonly text: string;
}

export type ReadText = { readonly document: Document } | { readonly mistake: Mistake };

/** A text as a document, or why it is not one. */
export function readText(text: string): ReadText {
  const line = brokenLine(text);
  if (line !== null) return { mistake: { line, text: texts.notJson } };
  const value: unknown = JSON.parse(text);
  const isDocument = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isDocument ? { document: value as Document } : { mistake: { line: 1, text: texts.notObject } };
}

const MISTAKE = /^(config[\w.[\]]*) (.+)$/s;

/** The lines of the mistakes that the server names: `config.targets[1].weigth is unknown; config.retry …`. */
export function mistakesOf(
  { code, message }: Pick<ApiError, 'code' | 'message'>,
  text: string,
): readonly Mistake[] {
  if (code !== 'config_invalid') return [{ line: 1, text: message }];
  const detail = message.slice(message.indexOf(': ') + 2).replace(/\.$/, '');
  const parts = detail.split(/; (?=config[.[ ])/);
  return parts
    .map((part) => {
      const [, path] = MISTAKE.exec(part) ?? [];
      return { line: path === undefined ? 1 : lineOf(text, path), text: part };
    })
    .sort((one, other) => one.line - other.line);
}
