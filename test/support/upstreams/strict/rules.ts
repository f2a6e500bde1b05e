import type { z } from 'zod';
import type { HeaderList } from '../../http-client.js';
import type { Received, Script } from '../echo.js';
import type { MoveOf } from './scene.js';

/** Something that a provider documents and enforces beyond the shape of single fields. */
export interface Rule<T> {
  /** What the provider says to a request that breaks it. */
  readonly says: string;
  /** The page that documents it. */
  readonly url: string;
  readonly isBroken: (body: T, asked: Asked) => boolean;
}

/** What a rule may know of a request besides its body. */
export interface Asked {
  readonly path: string;
  readonly header: (name: string) => string | undefined;
  readonly moveOf: MoveOf;
}

/** A provider that checks requests before it answers them. */
export interface StrictDialect<T> {
  readonly paths: RegExp;
  /** Every field that the provider documents. Others are refused. */
  readonly shape: z.ZodType<T>;
  readonly rules: readonly Rule<T>[];
  readonly answer: (body: T, asked: Asked) => Script;
  /** The provider's own form of a refusal. */
  readonly refusal: (message: string) => Script;
}

/** Why a request is refused, or its body. */
type Judged<T> = { readonly refused: string } | { readonly body: T };

export function judged<T>(dialect: StrictDialect<T>, received: Received, asked: Asked): Judged<T> {
  const read = dialect.shape.safeParse(JSON.parse(received.body.toString()));
  if (!read.success)
    return {
      refused: read.error.issues
        .map(({ path, message }) => `${path.map(String).join('.')}: ${message}`)
        .join('; '),
    };
  const broken = dialect.rules.find(({ isBroken }) => isBroken(read.data, asked));
  return broken ? { refused: `${broken.says} (${broken.url})` } : { body: read.data };
}

export const json = (body: object, status = 200): Script => ({
  status,
  headers: [['content-type', 'application/json']] satisfies HeaderList,
  body: JSON.stringify(body),
});

/** Server-sent events; those with a type bear it as their name. */
export const sse = (events: readonly (object | string)[]): Script => ({
  headers: [['content-type', 'text/event-stream']] satisfies HeaderList,
  body: events.map(line).join(''),
});

function line(event: object | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
