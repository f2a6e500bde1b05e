import { readFileSync } from 'node:fs';
import { SECRET_SETTINGS } from '../../common/settings/settings.js';

type RedactedEnvironment = Readonly<Record<string, string | undefined>>;

const MASK = '***';
/** Shorter values, such as a user name "gate", would mask ordinary words. */
const SHORTEST_KNOWN = 6;

const MAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+/gu;
const USER_IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s"']+@/gi;
const QUERY_OF_URL = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s"'?]+)\?[^\s"']+/gi;
const QUOTED = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?/g;
/** Long runs of letters and digits: keys, hashes, encoded bytes. Ids of records are UUIDs and stay. */
const TOKEN = /[A-Za-z0-9+=_-]{20,}/g;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Removes from text what a support bundle must not hold. */
export class BundleRedactor {
  private readonly knownSecrets: readonly string[];

  /** Knows the secrets of these settings. */
  constructor(environment: RedactedEnvironment) {
    const values = Object.entries(environment).flatMap(([name, value]) =>
      value ? secretsIn(name, value) : [],
    );
    const longEnough = [...new Set(values)].filter(({ length }) => length >= SHORTEST_KNOWN);
    this.knownSecrets = longEnough.sort((one, other) => other.length - one.length);
  }

  /** Masks the secrets of the settings, mail addresses, and users and queries in URLs. */
  known(text: string): string {
    const masked = this.knownSecrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
    return masked.replace(USER_IN_URL, `$1${MASK}@`).replace(QUERY_OF_URL, `$1?${MASK}`).replace(MAIL, MASK);
  }

  /** For text from elsewhere, such as the message of an error: also masks what is quoted and what looks like a key. */
  foreign(text: string): string {
    return this.known(text)
      .replace(QUOTED, `"${MASK}"`)
      .replace(TOKEN, (token) => (UUID.test(token) || !/\d/.test(token) ? token : MASK));
  }
}

const IS_SECRET: ReadonlySet<string> = new Set(SECRET_SETTINGS);
const HEADERS = /_HEADERS$/;

/** The value itself, those in its file, and the user and password of a URL. */
function secretsIn(name: string, value: string): string[] {
  const isFile = name.endsWith('_FILE') && IS_SECRET.has(name.slice(0, -'_FILE'.length));
  if (!isFile && !IS_SECRET.has(name) && !HEADERS.test(name)) return partsOfUrl(value);
  const text = isFile ? textOf(value) : value;
  const header = HEADERS.test(name) ? text.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1)) : [];
  return [text, ...header, ...partsOfUrl(text)];
}

function partsOfUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { username, password } = new URL(text);
  return [username, password, decodeURIComponent(username), decodeURIComponent(password)];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
