import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../settings/secret.js';

/** What a link grants: one file, for a time, on the authority of the caller that requested it. */
export interface ExportLink {
  readonly exportId: string;
  /** `key` and the id of an API key, or `user` and that of a user. */
  readonly by: readonly [kind: 'key' | 'user', id: string];
  /** Seconds since the epoch. */
  readonly expires: number;
}

/** The query of a link, as it was sent. */
export type ExportLinkParts = Readonly<Partial<Record<'expires' | 'by' | 'signature', string>>>;

const LONGEST_MS = 15 * 60_000;
const BY = /^(key|user)-([0-9a-f-]{36})$/;

/** Signed links to files of exports. They are not stored; the signing key is derived from the server's pepper. */
export class ExportLinks {
  private readonly pepper: Buffer;

  constructor(pepper: Secret) {
    this.pepper = Buffer.from(pepper.reveal(), 'base64');
  }

  /** The query of a new link. */
  queryFor(exportId: string, by: ExportLink['by'], now = Date.now()): string {
    const link = { exportId, by, expires: Math.floor((now + LONGEST_MS) / 1_000) };
    const signature = this.sign(link).toString('base64url');
    return new URLSearchParams({ expires: String(link.expires), by: by.join('-'), signature }).toString();
  }

  /** Null for a link that is not ours, was changed, or has expired. */
  read(exportId: string, query: ExportLinkParts, now = Date.now()): ExportLink | null {
    const { expires = '', by = '' } = query;
    const [, kind, id] = BY.exec(by) ?? [];
    if (!id || !/^\d{1,12}$/.test(expires)) return null;
    const link: ExportLink = {
      exportId,
      by: [kind === 'key' ? 'key' : 'user', id],
      expires: Number(expires),
    };
    return this.isSigned(link, query.signature) && link.expires * 1_000 > now ? link : null;
  }

  private isSigned(link: ExportLink, signature = ''): boolean {
    const presented = Buffer.from(signature, 'base64url');
    const right = this.sign(link);
    return presented.length === right.length && timingSafeEqual(presented, right);
  }

  private sign({ exportId, by, expires }: ExportLink): Buffer {
    const signed = ['export-link', exportId, ...by, expires].join('\n');
    return createHmac('sha256', this.pepper).update(signed).digest();
  }
}
