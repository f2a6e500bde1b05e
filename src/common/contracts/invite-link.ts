import type { Secret } from '../settings/secret.js';

/** Path below the address of the service. */
export const INVITE_PAGE = 'invites/accept';

/** Lifetime of an invite, in milliseconds. */
export const INVITE_LASTS_MS = 72 * 60 * 60_000;

/** The link of an invite. The token follows the `#`: browsers send that part to no server and in no referrer. */
export function inviteLink(baseUrl: string, token: Secret): string {
  return `${baseUrl}/${INVITE_PAGE}#${token.reveal()}`;
}
