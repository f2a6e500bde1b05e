import { normalizeEmail } from '../../common/http/normal-email.js';
import { rule } from '../../common/http/validators.js';

export const MOST_DOMAINS = 100;

/** A normalized mail domain, or null. */
export const domainOf = (text: string): string | null => normalizeEmail(`a@${text}`)?.slice(2) ?? null;

export const AreDomains = (): PropertyDecorator =>
  rule(
    'areDomains',
    'each must be a mail domain such as example.com',
    (value) =>
      Array.isArray(value) && value.every((each) => typeof each === 'string' && domainOf(each) !== null),
  );

export const HasOpenId = (): PropertyDecorator =>
  rule(
    'hasOpenId',
    '"openid" must be among them',
    (value) => Array.isArray(value) && value.includes('openid'),
  );

export const domainsOf = (domains: readonly string[]): string[] => [
  ...new Set(domains.map((domain) => domainOf(domain) ?? domain)),
];
