import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { words } from '../../words/en';

/** Fields that show their own refusal, by their names in the API. */
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'scopes',
  'usage_limits',
  'rate_limits',
  'expires_at',
  'defaults',
  'alert_emails',
]);

/** The message of a refusal by the field that it names: `The field "usage_limits.0.credit_limit" is invalid: …`. */
export function refusedFields(error: Error | null): Readonly<Record<string, string>> {
  if (error === null) return {};
  const { message } = shownError(error);
  const [, field = ''] = /[Ff]ield "(\w+)/.exec(message) ?? [];
  return FIELDS.has(field) ? { [field]: message } : {};
}

/** A refusal that belongs to no field. */
export function RefusedSave({ error }: { error: Error | null }) {
  if (error === null || Object.keys(refusedFields(error)).length > 0) return null;
  return <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />;
}
