import type { RE2JS } from 're2js';
import { linearPattern } from '../../routing-config/guardrails/linear-pattern.js';
import { codingsOf, decodedSync } from '../../common/http/content-coding.js';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import type { HeaderPairs } from '../record.js';
import type { BodyFacts } from '../spool/frame-values.js';
import { clearStream } from './event-stream.js';
import { type JsonValue, jsonPath, type JsonPath, maskPaths } from './json-path.js';
import { clearJson, clearText, REDACTED_TEXT } from './texts.js';

/** A body with its recorded facts. */
export interface RecordedBody {
  readonly facts: BodyFacts;
  readonly bytes: Buffer;
}

const LARGEST_BYTES = 10 * 1024 * 1024;

/** A body in which the rules cannot determine what to redact. */
class UnreadableError extends Error {}

const TEXT = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|x-ndjson|jsonl)\b)/i;
const JSON_TYPE = /json/i;
const JSON_BEGINS = /^\s*[[{]/;
const STREAM = /event-stream|ndjson|jsonl/i;
const STREAM_BEGINS = /^(?:data|event|id|retry|:)/;
const DEEPEST = 200;

/**
 * Redacts a request by rules. Unreadable content is dropped: a body whose encoding, type or format cannot be interpreted is not kept at
 * all.
 */
export class Redactor {
  private readonly headerNames: ReadonlySet<string>;
  private readonly paths: readonly JsonPath[];
  private readonly patterns: readonly RE2JS[];

  /** Rules accepted by `readRedaction`; all of them apply. */
  constructor(rules: readonly LogRedaction[]) {
    this.headerNames = new Set(
      rules.flatMap(({ headers = [] }) => headers.map((name) => name.toLowerCase())),
    );
    this.paths = rules.flatMap(({ json_paths = [] }) => json_paths.map(jsonPath));
    this.patterns = rules.flatMap(({ patterns = [] }) => patterns.map(linearPattern));
  }

  headers(pairs: HeaderPairs): HeaderPairs {
    return pairs.map((text, at) => {
      if (at % 2 === 0) return text;
      return this.headerNames.has((pairs[at - 1] as string).toLowerCase()) ? REDACTED_TEXT : this.text(text);
    });
  }

  text(text: string): string {
    return clearText(text, this.patterns);
  }

  /** A JSON value: patterns apply to its strings. */
  json<T>(value: T): T {
    return JSON.parse(clearJson(JSON.stringify(value), this.patterns)) as T;
  }

  /** Null when it must not be kept. */
  body({ facts, bytes }: RecordedBody): RecordedBody | null {
    if (this.paths.length === 0 && this.patterns.length === 0) return { facts, bytes };
    try {
      const text = textOf({ facts, bytes });
      const clear = this.clear(text, facts);
      if (clear === text) return { facts, bytes };
      return { facts: { ...facts, content_encoding: null }, bytes: Buffer.from(clear) };
    } catch {
      return null;
    }
  }

  private clear(text: string, facts: BodyFacts): string {
    const type = facts.content_type ?? '';
    if (STREAM.test(type) || STREAM_BEGINS.test(text)) return this.clearStream(text, facts);
    if (!JSON_TYPE.test(type) && !JSON_BEGINS.test(text)) return clearText(text, this.patterns);
    // After the gap in a truncated body, the path of a value is unknown.
    if (facts.truncated && this.paths.length > 0) throw new UnreadableError();
    return clearJson(this.withoutPaths(text), this.patterns);
  }

  private clearStream(text: string, { truncated }: BodyFacts): string {
    const parse = (json: string): JsonValue | undefined => this.event(json, truncated);
    return clearStream(text, { paths: this.paths, patterns: this.patterns, parse });
  }

  private withoutPaths(text: string): string {
    if (this.paths.length === 0) return text;
    const value = parsed(text);
    return maskPaths(value, this.paths, REDACTED_TEXT) ? JSON.stringify(value) : text;
  }

  /** In an incomplete stream, one event may be cut off; it is dropped if a path might lead into it. */
  private event(json: string, truncated: boolean): JsonValue | undefined {
    try {
      return parsed(json);
    } catch (error) {
      if (this.paths.length === 0) return undefined;
      if (truncated) return REDACTED_TEXT;
      throw error;
    }
  }
}

/** Throws when the text is not JSON, or nests too deeply to walk. */
function parsed(text: string): JsonValue {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > DEEPEST) throw new UnreadableError();
  }
  return JSON.parse(text) as JsonValue;
}

function textOf({ facts, bytes }: RecordedBody): string {
  if (facts.content_type !== null && !TEXT.test(facts.content_type.trim())) throw new UnreadableError();
  const decoded = decodedSync(bytes, codingsOf(facts.content_encoding), LARGEST_BYTES);
  // A truncated body may be cut inside a character.
  return new TextDecoder('utf-8', { fatal: !facts.truncated, ignoreBOM: true }).decode(decoded);
}
