import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A place that may not hold any secret, and what stands in it. */
export interface Sink {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface CanaryHit {
  readonly canary: string;
  readonly encoding: string;
  readonly sink: string;
}

interface Pattern {
  readonly canary: string;
  readonly encoding: string;
  readonly bytes: Buffer;
}

/** So much of the head of a secret is already too much. */
const HEAD_CHARS = 16;

/**
 * Secrets that occur nowhere else, and the search for them: raw, in the encodings under which
 * secrets leave by accident, and by their first characters.
 */
export class Canaries {
  private readonly patterns: Pattern[] = [];

  /** A secret in the shape of a provider's key. It has characters that encodings change. */
  make(name: string): string {
    const secret = `sk-${randomBytes(16).toString('hex')}+/${name}/${randomBytes(16).toString('hex')}=`;
    this.watch(name, secret, true);
    return secret;
  }

  /** Watches for a secret that somebody else made. Without `head` only for the whole of it. */
  watch(name: string, secret: string, head = false): void {
    const add = (encoding: string, text: string): void => {
      this.patterns.push({ canary: name, encoding, bytes: Buffer.from(text) });
    };
    add('raw', secret);
    add('hex', Buffer.from(secret).toString('hex'));
    add('HEX', Buffer.from(secret).toString('hex').toUpperCase());
    add('url', encodeURIComponent(secret));
    add('json', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'));
    for (const core of base64Cores(secret)) {
      add('base64', core);
      add('base64url', core.replaceAll('+', '-').replaceAll('/', '_'));
    }
    if (head) add('head', secret.slice(0, HEAD_CHARS));
  }

  scan(sinks: readonly Sink[]): readonly CanaryHit[] {
    return sinks.flatMap(({ name: sink, bytes }) =>
      this.patterns
        .filter((pattern) => bytes.includes(pattern.bytes))
        .map(({ canary, encoding }) => ({ canary, encoding, sink })),
    );
  }
}

/** The part of the base64 text that is the same whatever stands before and after the secret, for each alignment. */
function base64Cores(secret: string): readonly string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
      .toString('base64')
      .replaceAll('=', '');
    return text.slice(shift === 0 ? 0 : shift + 1, -2);
  });
}

const PUBLISHED = new Set(['bootstrap.json']);

/** Every file of a data folder but the database's own, and the one file whose purpose is to hold keys. */
export function filesOf(folder: string): readonly Sink[] {
  if (existsSync(join(folder, 'PG_VERSION'))) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (PUBLISHED.has(name)) return [];
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return filesOf(path);
    return found?.isFile() ? [{ name: path, bytes: readFileSync(path) }] : [];
  });
}
