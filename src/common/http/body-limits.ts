/** Largest body of an administrative request, in bytes. */
export const ADMINISTRATION_BODY_LIMIT = 1024 * 1024;

/** Largest body of a request without authentication, in bytes: anyone can send one. */
export const PUBLIC_BODY_LIMIT = 64 * 1024;

/** Largest body of imported logs, in bytes as transferred. */
export const INGESTION_BODY_LIMIT = 8 * 1024 * 1024;

const ROOT = '/v1/';

/** Paths of the administration that need no API key. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  `${ROOT}admin/invites/accept`,
  `${ROOT}auth/passkeys/request-options`,
  `${ROOT}auth/passkeys/sign-in`,
  `${ROOT}auth/sign-in`,
  `${ROOT}auth/set-up`,
  `${ROOT}auth/single-sign-on`,
  `${ROOT}auth/single-sign-on/back-channel-logout`,
  `${ROOT}auth/single-sign-on/callback`,
  `${ROOT}auth/single-sign-on/start`,
]);

/** The redirect URIs of identity providers: one for each, below this path. */
const SIGN_ON_CALLBACKS = `${ROOT}auth/single-sign-on/callback/`;

/** Paths for importing logs of requests made elsewhere. */
const INGESTION_PATHS: ReadonlySet<string> = new Set([`${ROOT}logs`, `${ROOT}otel/v1/traces`]);

/** A path of `PUBLIC_PATHS` from its part below `/v1`. Throws if it is not listed: its bodies would have no limit of their own. */
export function publicPath(path: string): string {
  const whole = ROOT + path;
  if (!PUBLIC_PATHS.has(whole)) throw new Error(`${whole} is not one of the public paths.`);
  return whole;
}

/** By the target of a request as received, with or without its query. */
export function bodyLimitOf(target: string): number {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (INGESTION_PATHS.has(path)) return INGESTION_BODY_LIMIT;
  return PUBLIC_PATHS.has(path) || path.startsWith(SIGN_ON_CALLBACKS)
    ? PUBLIC_BODY_LIMIT
    : ADMINISTRATION_BODY_LIMIT;
}
