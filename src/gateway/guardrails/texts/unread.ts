import { AppError } from '../../../common/errors/app-error.js';

/** What a refused request gets for a reason, and how the reason reads as the end of a sentence. */
interface UnreadRow {
  readonly code: 'body_unreadable' | 'invalid_request';
  readonly says: string;
  /** Where it can occur. */
  readonly sides: readonly ('input' | 'output')[];
  /** The gateway reads no texts there by design, so a guardrail cannot miss any. */
  readonly isByDesign?: true;
}

/** Every reason for which a guardrail cannot read the texts of a request or a response. */
export const UNREAD_REASONS = {
  format: { code: 'body_unreadable', says: 'it is not JSON', sides: ['input', 'output'] },
  form: { code: 'body_unreadable', says: 'it is not a complete multipart form', sides: ['input'] },
  charset: {
    code: 'body_unreadable',
    says: 'it is not valid UTF-8, or declares another charset',
    sides: ['input', 'output'],
  },
  duplicate: {
    code: 'invalid_request',
    says: 'one object has a member twice, or a form a field, so a guardrail cannot tell which one counts',
    sides: ['input', 'output'],
  },
  depth: {
    code: 'invalid_request',
    says: 'it is nested deeper than 2000 levels',
    sides: ['input', 'output'],
  },
  tokens: {
    code: 'body_unreadable',
    says: 'the prompt is given as token numbers or vectors instead of text',
    sides: ['input', 'output'],
  },
  file: {
    code: 'body_unreadable',
    says: 'a text file in it is not valid base64 or UTF-8',
    sides: ['input', 'output'],
  },
  events: {
    code: 'body_unreadable',
    says: 'it is not a stream of JSON events, or has more text than a guardrail can judge',
    sides: ['output'],
  },
  endpoint: {
    code: 'body_unreadable',
    says: 'the gateway reads no texts of this endpoint',
    sides: ['input', 'output'],
    isByDesign: true,
  },
} as const satisfies Readonly<Record<string, UnreadRow>>;

export type UnreadReason = keyof typeof UNREAD_REASONS;

/** Content that cannot be read for texts: a value that each reader of texts must handle. */
export interface UnreadContent {
  readonly unread: UnreadReason;
  /** The place, such as `messages[0].content`; empty for the whole. */
  readonly where: string;
  /** More precise than the row of the reason. */
  readonly detail?: string;
}

export const unreadRow = (reason: UnreadReason): UnreadRow => UNREAD_REASONS[reason];

export const unread = (reason: UnreadReason, where = '', detail?: string): UnreadContent => ({
  unread: reason,
  where: where.replace(/^\./, '').slice(0, 128),
  ...(detail !== undefined && { detail }),
});

/** The reason and the place, as the end of a sentence. */
export function unreadInWords({ unread: reason, where, detail }: UnreadContent): string {
  const says = detail ?? UNREAD_REASONS[reason].says;
  return where === '' ? says : `${says} (at ${where})`;
}

/** The refusal of a request. */
export function unreadError(content: UnreadContent): AppError {
  const detail = unreadInWords(content);
  return unreadRow(content.unread).code === 'body_unreadable'
    ? new AppError('body_unreadable', { reader: 'a guardrail', detail })
    : new AppError('invalid_request', { detail: `A guardrail cannot check the body: ${detail}.` });
}
