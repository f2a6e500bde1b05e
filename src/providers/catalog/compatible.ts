import { bearer, WORKLOAD_IDENTITY } from '../auth-scheme.js';
import { openai, own } from '../dialects/untranslated.js';
import type { AccountField, AnswerLink, Provider } from '../provider.js';

/** What differs between rows of one API with several kinds of credential. */
export type ProviderWithCredential = Pick<Provider, 'id' | 'name' | 'auth' | 'fields'>;

type SharedColumns = 'dialect' | 'auth' | 'endpoints';

/** A row of a provider with OpenAI's format; it lists only its differences. */
export function compatible(
  row: Omit<Provider, SharedColumns> & Partial<Pick<Provider, SharedColumns>>,
): Provider {
  return { dialect: openai, auth: bearer, endpoints: ['chat-completions'], ...row };
}

/** A row of a provider with an API of its own that is not translated: everything passes through. */
export function passedThrough(
  row: Omit<Provider, SharedColumns> & Partial<Pick<Provider, 'auth'>>,
): Provider {
  return { dialect: own, auth: bearer, endpoints: [], ...row };
}

/** A row of a provider with an API of its own that its dialect translates. */
export function translated(
  row: Omit<Provider, 'auth' | 'endpoints'> & Partial<Pick<Provider, 'auth'>>,
): Provider {
  return { auth: bearer, endpoints: [], ...row };
}

/**
 * The address of a message batch's results. Anthropic's client requests it directly:
 * https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/batches.ts (results)
 */
export const messageBatchLinks: readonly AnswerLink[] = [
  { paths: /^(?:\/v1)?\/messages\/batches(?:\/[^/]+(?:\/cancel)?)?$/, field: 'results_url' },
];

/** One label of a host name by RFC 1123: it cannot end the host and begin another part of the URL. */
export const HOST_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** One segment of a path, with at least one letter or digit so that it cannot be "..". */
export const PATH_SEGMENT = /^(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,128}$/;

type AccountFieldText = Omit<AccountField, 'isRequired' | 'default'>;

export const required = (field: AccountFieldText): AccountField => ({ ...field, isRequired: true });

export const optional = (field: AccountFieldText & Pick<AccountField, 'default'>): AccountField => ({
  ...field,
  isRequired: false,
});

/** An operator allows it for an organization: docs/workload-identity.md. */
export const workloadIdentityField = optional({
  name: WORKLOAD_IDENTITY,
  title: 'Whether the identity of the machine replaces the key',
  pattern: /^enabled$/,
  example: 'enabled',
  isStoredOnly: true,
});
