import { checkIdOf, checkRow } from './check-parameters.js';

/** A check as written: id, parameters and further fields. */
export type WrittenCheck = Readonly<Record<string, unknown>>;

/** Secret parameters of checks by path, `0.secret` or `2.headers.authorization`. */
export type CheckSecrets = Readonly<Record<string, string>>;

/** Shown in place of a secret; sent back, it means "unchanged". */
export const MASKED_CHECK_SECRET = '***';

/** The purpose for which a guardrail's secrets are sealed: this row only. */
export function guardrailPurpose(organizationId: string, id: string): readonly string[] {
  return ['guardrail', organizationId, id];
}

/** Removes the secrets from checks. A returned mask stands for the existing secret. */
export function withoutSecrets(
  checks: readonly WrittenCheck[],
  before: CheckSecrets = {},
): { readonly shown: readonly WrittenCheck[]; readonly secrets: CheckSecrets } {
  const secrets: Record<string, string> = {};
  const take = (place: string, value: string): string => {
    const secret = value === MASKED_CHECK_SECRET ? before[place] : value;
    if (secret !== undefined) secrets[place] = secret;
    return MASKED_CHECK_SECRET;
  };
  const shown = checks.map((check, index) => mapSecrets(check, `${index}`, take));
  return { shown, secrets };
}

/** Puts the secrets back. */
export function withSecrets(checks: readonly WrittenCheck[], secrets: CheckSecrets): readonly WrittenCheck[] {
  return checks.map((check, index) =>
    mapSecrets(check, `${index}`, (place, value) => secrets[place] ?? value),
  );
}

type Each = (place: string, value: string) => string;

function mapSecrets(check: WrittenCheck, place: string, each: Each): WrittenCheck {
  const id = typeof check.id === 'string' ? checkIdOf(check.id) : undefined;
  const names = id ? (checkRow(id).secrets ?? []) : [];
  const parameters = { ...(check.parameters as Record<string, unknown> | undefined) };
  for (const name of names) {
    const value = parameters[name];
    if (typeof value === 'string') parameters[name] = each(`${place}.${name}`, value);
    else if (typeof value === 'object' && value !== null)
      parameters[name] = Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, each(`${place}.${name}.${key}`, String(inner))]),
      );
  }
  return names.length > 0 ? { ...check, parameters } : check;
}
