import { Secret } from '../../common/settings/secret.js';
import { type SecretLocation, unusableSecret } from './secret-location.js';

/** Which part of a stored secret is meant. */
export interface SecretPart {
  /** A member of the secret's JSON object; null for the whole secret. */
  readonly key: string | null;
  /** `json`: the part is JSON, as the file of a service account is. */
  readonly format: 'json' | 'string' | null;
}

/** As a stored credential: src/admin/dto-fields/fields.ts. */
const CREDENTIAL = /^[!-~](?:[ -~]*[!-~])?$/;
const LONGEST = 8_192;

/**
 * The credential in a stored secret. Without a key, it is the secret itself, or the only text of its JSON object; white space around it is
 * removed, and JSON is written in one line. Throws `secret_unusable`, which names the key and never a value.
 */
export function credentialIn(
  location: Pick<SecretLocation, 'reference'>,
  stored: Secret,
  { key, format }: SecretPart,
): Secret {
  const text = stored.reveal().trim();
  const object = objectOf(text);
  const part = key === null ? wholeOf(text, object, format) : memberOf(location, object, key);
  const json = objectOf(part);
  if (format === 'json' && json === null) throw unusableSecret(location, 'the secret is no JSON object');
  const credential = json === null ? part : JSON.stringify(json);
  if (credential.length > LONGEST || !CREDENTIAL.test(credential))
    throw unusableSecret(location, `the secret must be printable ASCII of 1 to ${LONGEST} characters`);
  return new Secret(credential);
}

type SecretObject = Readonly<Record<string, unknown>>;

function wholeOf(text: string, object: SecretObject | null, format: SecretPart['format']): string {
  const members = Object.values(object ?? {});
  const [only] = members;
  return format !== 'json' && members.length === 1 && typeof only === 'string' ? only.trim() : text;
}

function memberOf(
  location: Pick<SecretLocation, 'reference'>,
  object: SecretObject | null,
  key: string,
): string {
  const value = object !== null && Object.hasOwn(object, key) ? object[key] : undefined;
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  throw unusableSecret(location, `the secret has no key "${key}"`);
}

function objectOf(text: string): SecretObject | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text) as SecretObject;
  } catch {
    return null;
  }
}
