import { AppError } from '../../common/errors/app-error.js';
import { jsonFault } from '../../common/json/json-fault.js';

const DEEPEST = 64;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Parses the JSON body of an administrative request. An empty body is an empty object, because the compatible SDK announces JSON on
 * requests without a body.
 *
 * A list is accepted here; only handlers marked with `OneOrMany` take one, and all others refuse it when they validate their DTO.
 *
 * Refuses content that would cause harm later: names that reach a prototype, texts that PostgreSQL cannot store (NUL, lone surrogates), and
 * nesting deeper than 64, which could exhaust the stack of recursive code.
 */
export function parseJsonBody(bytes: Buffer): object {
  const text = decoded(bytes);
  if (text.trim() === '') return {};
  const body = parsed(text);
  if (typeof body !== 'object' || body === null)
    throw new AppError('invalid_request', { detail: 'The request body must be a JSON object.' });
  checkValues(body);
  return body;
}

/** The lenient decoder would replace invalid bytes with U+FFFD, and so change the content. */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('is not UTF-8');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new AppError('invalid_json', { detail: jsonFault(text) });
  }
}

/** Iterative instead of recursive, so that depth costs no stack. */
function checkValues(body: object): void {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: body, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') checkText(value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > DEEPEST) throw refused(`is nested deeper than ${DEEPEST} levels`);
    for (const [name, inner] of Object.entries(value)) {
      checkName(name);
      open.push({ value: inner, depth: depth + 1 });
    }
  }
}

/** The library that builds DTOs silently drops these names, and others follow them to a prototype. */
const REFUSED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

function checkName(name: string): void {
  checkText(name);
  if (REFUSED_NAMES.has(name)) throw refused(`has the field "${name}"`);
}

function checkText(text: string): void {
  if (text.includes('\0') || LONE_SURROGATE.test(text))
    throw refused('has a string with a NUL or half of a surrogate pair');
}

const refused = (what: string) => new AppError('invalid_json', { detail: `it ${what}` });
