/** Names and values from the caller and its workspace. */
export type RequestMetadata = Readonly<Record<string, string>>;

const USER_CHARS_MAX = 128;

/**
 * The metadata of a request: as in the compatible API, `_user` comes from the `user` of its body if the caller sets none. Conditions,
 * sessions and the log use it.
 */
export function requestMetadata(
  metadata: RequestMetadata | null,
  body: Readonly<Record<string, unknown>> | null,
): RequestMetadata | null {
  const user = body?.user;
  if (typeof user !== 'string' || user === '' || metadata?._user !== undefined) return metadata;
  return { ...metadata, _user: user.slice(0, USER_CHARS_MAX) };
}
