import type { Secret } from '../settings/secret.js';

/** Below the address of the service. */
export const INVITE_PAGE = 'invites/accept';

/** How long an invite is open, in milliseconds. */
export const INVITE_LASTS_MS = 72 * 60 * 60_000;

/** The link of an invite. The token stands behind the `#`, which browsers send to no server and in no referrer. */
export function inviteLink(baseUrl: string, token: Secret): string {
  return `${baseUrl}/${INVITE_PAGE}#${token.reveal()}`;
}
