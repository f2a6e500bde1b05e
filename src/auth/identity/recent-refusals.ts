/** Why a caller was not identified. Callers see less: they could learn which keys exist. */
export const REFUSAL_REASONS = [
  'missing',
  'malformed',
  'unknown',
  'expired',
  'revoked',
  'replaced',
  'token',
  'provider_key',
  'throttled',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** One refused request. */
export interface RefusedRequest {
  readonly reason: RefusalReason;
  readonly address: string;
  /** The credential as presented; null without one. */
  readonly presented: string | null;
  /** Path and query. */
  readonly target: string;
  /** The ended key that was presented in whole; null for any other credential. */
  readonly key: { readonly id: string; readonly organizationId: string } | null;
}

/**
 * Refused requests from one address with one credential for one reason, under the names of the table's columns. Times are milliseconds
 * since the epoch. An empty address stands for all those that did not fit.
 */
export interface RefusalNote {
  /** Null if the credential names no organization. */
  readonly organization_id: string | null;
  readonly api_key_id: string | null;
  readonly address: string;
  readonly last_four: string;
  readonly reason: RefusalReason;
  /** Of the first of these requests. */
  readonly path: string;
  readonly requests: number;
  readonly first_at: number;
  readonly last_at: number;
}

/** Distinct notes of a process between two writes; some 300 bytes each. */
const NOTES_MAX = 500;
const ADDRESS_CHARS_MAX = 64;
const PATH_CHARS_MAX = 128;
/** Shorter credentials are guesses or passwords, of which four characters are too much. */
const CREDENTIAL_CHARS_MIN = 16;
const SEGMENT_CHARS_MAX = 24;

/**
 * What was refused since the last write, in bounded memory: when it is full, further addresses and credentials are counted together for each
 * reason and organization. No secret is kept but its last four characters.
 */
export class RecentRefusals {
  private notes = new Map<string, RefusalNote>();

  add(refused: RefusedRequest, at: number): void {
    const lastFour = lastFourOf(refused.presented);
    const organizationId = refused.key?.organizationId ?? null;
    const name = nameOf(organizationId, refused.reason, refused.address, lastFour);
    const known = this.notes.get(name);
    if (known) {
      this.notes.set(name, { ...known, requests: known.requests + 1, last_at: at });
      return;
    }
    this.addNote({
      organization_id: organizationId,
      api_key_id: refused.key?.id ?? null,
      address: ownCopy(printable(refused.address.slice(0, ADDRESS_CHARS_MAX))),
      last_four: lastFour,
      reason: refused.reason,
      path: shownPath(refused.target),
      requests: 1,
      first_at: at,
      last_at: at,
    });
  }

  /** Returns all notes and forgets them. */
  take(): readonly RefusalNote[] {
    const notes = [...this.notes.values()];
    this.notes = new Map();
    return notes;
  }

  /** Takes notes back that could not be written. */
  restore(notes: readonly RefusalNote[]): void {
    for (const note of notes) this.addNote(note);
  }

  private addNote(note: RefusalNote): void {
    const { organization_id, reason, address, last_four } = note;
    const name = nameOf(organization_id, reason, address, last_four);
    if (this.notes.size < NOTES_MAX || this.notes.has(name)) return this.merge(name, note);
    this.merge(nameOf(organization_id, reason, '', ''), {
      ...note,
      api_key_id: null,
      address: '',
      last_four: '',
      path: '',
    });
  }

  private merge(name: string, note: RefusalNote): void {
    const known = this.notes.get(name) ?? { ...note, requests: 0 };
    this.notes.set(name, {
      ...known,
      requests: known.requests + note.requests,
      first_at: Math.min(known.first_at, note.first_at),
      last_at: Math.max(known.last_at, note.last_at),
    });
  }
}

const nameOf = (...parts: readonly (string | null)[]): string => parts.join('|');

const lastFourOf = (presented: string | null): string =>
  presented === null || presented.length < CREDENTIAL_CHARS_MIN ? '' : printable(presented.slice(-4));

const printable = (text: string): string => text.replace(/[^\x21-\x7e]/g, '?');

/** A part of a string keeps the whole string in memory, here up to all headers of a request: https://bugs.chromium.org/p/v8/issues/detail?id=2869 */
const ownCopy = (text: string): string => Buffer.from(text).toString();

/** Without the query. Segments that are long enough to be secrets are cut out, so an id may be missing, too. */
function shownPath(target: string): string {
  const [path = ''] = target.slice(0, PATH_CHARS_MAX).split('?', 1);
  const segments = path.split('/').map((part) => (part.length > SEGMENT_CHARS_MAX ? '***' : part));
  return ownCopy(printable(segments.join('/')));
}
