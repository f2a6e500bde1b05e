import { filledOrNull } from './account-address.js';
import type { OwnPaths, Provider } from './provider.js';

/** The address of an account, and the path of its base URL or custom host. */
export interface UpstreamBase {
  readonly provider: Provider;
  /** Without a trailing slash; may be empty. */
  readonly basePath: string;
  readonly isCustomHost: boolean;
  readonly fields: Readonly<Record<string, string>>;
}

/** A segment that names a version: `/v1`, `/v1beta`, `/v1beta3`. */
const VERSION_PATTERN = '/v\\d{1,3}(?:(?:alpha|beta)\\d{0,2})?';
const VERSION = new RegExp(`${VERSION_PATTERN}(?=/|$)`);
const VERSION_FIRST = new RegExp(`^${VERSION_PATTERN}(?=/|$)`);
const VERSION_LAST = new RegExp(`${VERSION_PATTERN}$`);

/**
 * The path of a known endpoint at an account's address, where the version occurs exactly once. A custom host may end with a version or not:
 * one that the endpoint's own path begins with replaces it, and one that the catalogue has in the base URL is added if the custom host has
 * none (`Provider.hostPath`).
 */
export function upstreamPath(base: UpstreamBase, path: string): string {
  const { basePath, isCustomHost } = base;
  if (!isCustomHost) return basePath + path;
  return VERSION_FIRST.test(path) ? withoutVersion(basePath) + path : versionedPath(base) + path;
}

/** The same for a path that the gateway does not know: a version in it stays where the client wrote it. */
export function unknownUpstreamPath(base: UpstreamBase, written: string): string {
  return (base.isCustomHost && !VERSION.test(written) ? versionedPath(base) : base.basePath) + written;
}

/** The path of a custom host, with the version that the provider's endpoints need and the host lacks. */
function versionedPath({ provider, basePath, fields }: UpstreamBase): string {
  const { hostPath } = provider;
  if (hostPath === undefined || VERSION.test(basePath)) return basePath;
  return basePath + (filledOrNull(hostPath, fields) ?? '');
}

const withoutVersion = (path: string): string => path.replace(VERSION_LAST, '');

/**
 * A path with a prefix that the provider's own base URL ends with, such as `/openai/v1` of Groq: it is sent once. Null if the prefix is
 * another provider's.
 */
export function ownPrefixPath(
  { provider, basePath }: UpstreamBase,
  prefix: string,
  path: string,
): string | null {
  if (prefix === '' || provider.baseUrl?.endsWith(prefix) !== true) return null;
  const root = basePath.endsWith(prefix) ? basePath.slice(0, -prefix.length) : withoutVersion(basePath);
  return root + prefix + path;
}

/** The base path without the beginning of the provider's own paths: `/proxy` of `/proxy/v1beta`. */
export function hostRoot(basePath: string, { atRoot = [] }: OwnPaths = {}): string {
  const ending = atRoot.find((beginning) => basePath.endsWith(beginning));
  return ending === undefined ? basePath : basePath.slice(0, -ending.length);
}
