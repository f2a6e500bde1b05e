import { domainToASCII } from 'node:url';

/** RFC 5321, section 4.5.3.1: https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1 */
const LONGEST = 254;
const LONGEST_LOCAL = 64;

/** The dot-atom of RFC 5322 in ASCII: no quotes, no comments, and no look-alike letters. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * An email address in normalized form: lower case, the domain in ASCII (https://url.spec.whatwg.org/#concept-domain-to-ascii). Null if it
 * is invalid.
 *
 * `a+b@example.com` stays unchanged: only its mail server can tell whether that is the same mailbox as `a@example.com`.
 */
export function normalizeEmail(text: string): string | null {
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > LONGEST) return null;
  const local = text.slice(0, at).toLowerCase();
  const domain = domainToASCII(text.slice(at + 1));
  if (local.length > LONGEST_LOCAL || !LOCAL.test(local) || !DOMAIN.test(domain)) return null;
  const email = `${local}@${domain}`;
  return email.length > LONGEST ? null : email;
}
