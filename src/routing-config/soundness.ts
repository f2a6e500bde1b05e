import { isJsonObject } from './readers.js';
import type { Mistake } from './document-path.js';

const PATH_CHARS_MAX = 256;

/** With the flag u, complete pairs are one character and do not match. */
const HALF_A_PAIR = /[\ud800-\udfff]/u;

/** Largest JSON size of a config, and its deepest nesting. */
export const CONFIG_BYTES_MAX = 256 * 1024;
export const CONFIG_DEPTH_MAX = 50;

/** Keys that refer to the prototype of an object they are copied to. */
const POLLUTING: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Why a document must not be read any further: too large, too deep (which a cyclic object is, too), or with keys or text that do harm where
 * they are copied or stored. Null when it is sound. Reads no more of it than a sound document has.
 */
export function unsoundness(document: unknown): Mistake | null {
  return new Inspection().look(document, 'config', 0);
}

class Inspection {
  private bytesLeft = CONFIG_BYTES_MAX;

  look(value: unknown, path: string, depth: number): Mistake | null {
    if (depth > CONFIG_DEPTH_MAX)
      return { path: 'config', message: `must not be nested deeper than ${CONFIG_DEPTH_MAX} levels` };
    if (typeof value === 'string') return this.text(value, path);
    if (Array.isArray(value)) return this.items(value, path, depth);
    if (isJsonObject(value)) return this.members(value, path, depth);
    if (typeof value === 'number' && !Number.isFinite(value))
      return { path: path.slice(0, PATH_CHARS_MAX), message: 'must be a finite number' };
    return this.spend(4);
  }

  private items(values: readonly unknown[], path: string, depth: number): Mistake | null {
    for (const [index, value] of values.entries()) {
      const mistake = this.spend(1) ?? this.look(value, `${path}[${index}]`, depth + 1);
      if (mistake) return mistake;
    }
    return this.spend(2);
  }

  private members(object: object, path: string, depth: number): Mistake | null {
    for (const [key, value] of Object.entries(object)) {
      if (POLLUTING.has(key)) return { path, message: `must not have a key "${key}"` };
      const mistake = this.text(key, path) ?? this.spend(2) ?? this.look(value, `${path}.${key}`, depth + 1);
      if (mistake) return mistake;
    }
    return this.spend(2);
  }

  private text(value: string, path: string): Mistake | null {
    const tooLarge = this.spend(Buffer.byteLength(value) + 2);
    if (tooLarge) return tooLarge;
    // PostgreSQL cannot store these in JSON, and no name or parameter needs them.
    return value.includes('\0') || HALF_A_PAIR.test(value)
      ? { path: path.slice(0, PATH_CHARS_MAX), message: 'must not contain NUL or half a surrogate pair' }
      : null;
  }

  private spend(bytes: number): Mistake | null {
    this.bytesLeft -= bytes;
    return this.bytesLeft >= 0
      ? null
      : { path: 'config', message: `must not be larger than ${CONFIG_BYTES_MAX} bytes` };
  }
}
