import { checkIdOf, checkRow } from './check-parameters.js';

/** A check as it is written: id, parameters and what else belongs to it. */
export type WrittenCheck = Readonly<Record<string, unknown>>;

/** Secret parameters of checks by their place, `0.secret` or `2.headers.authorization`. */
export type CheckSecrets = Readonly<Record<string, string>>;

/** What stands where a secret was, and means "as it was" when it is sent back. */
export const MASK = '***';

/** What a guardrail's secrets are sealed for: this very row, and nothing else. */
export function guardrailPurpose(organizationId: string, id: string): readonly string[] {
  return ['guardrail', organizationId, id];
}

/** Takes the secrets out of checks. A mask that was sent back stands for the secret that was there before. */
export function withoutSecrets(
  checks: readonly WrittenCheck[],
  before: CheckSecrets = {},
): { readonly shown: readonly WrittenCheck[]; readonly secrets: CheckSecrets } {
  const secrets: Record<string, string> = {};
  const take = (place: string, value: string): string => {
    const secret = value === MASK ? before[place] : value;
    if (secret !== undefined) secrets[place] = secret;
    return MASK;
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
