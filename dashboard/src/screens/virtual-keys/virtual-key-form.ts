import { limitsOf } from '../../api/keys';
import type {
  CatalogProvider,
  NewVirtualKey,
  UnsavedCredential,
  VirtualKey,
  VirtualKeyChange,
} from '../../api/virtual-keys';

export type Period = 'monthly' | 'weekly' | 'none';

/** What happens to parameters that the provider does not support. */
export type UnsupportedRule = NonNullable<VirtualKey['unsupported_parameters']>;

/** The form of a virtual key. */
export interface Form {
  readonly provider: string;
  readonly name: string;
  readonly slug: string;
  readonly secret: string;
  readonly host: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly budget: string;
  readonly period: Period;
  readonly rate: string;
  readonly unsupported: UnsupportedRule;
}

export const EMPTY: Form = {
  provider: '',
  name: '',
  slug: '',
  secret: '',
  host: '',
  fields: {},
  budget: '',
  period: 'monthly',
  rate: '',
  unsupported: 'refuse',
};

/** A valid slug derived from a name. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

export const isAmount = (text: string): boolean => text === '' || Number(text) > 0;

/** Whether the form can represent all limits of a key: one monthly, weekly or permanent budget in dollars, and one rate per minute. */
export function hasPlainLimits(key: VirtualKey): boolean {
  const budgets = limitsOf(key);
  const rates = key.rate_limits ?? [];
  return (
    budgets.length <= 1 &&
    budgets.every(({ type, periodic_reset_days }) => type === 'cost' && periodic_reset_days === null) &&
    rates.length <= 1 &&
    rates.every(({ type, unit }) => type === 'requests' && unit === 'rpm')
  );
}

export function formOf(key: VirtualKey): Form {
  const [budget] = limitsOf(key);
  const [rate] = key.rate_limits ?? [];
  return {
    provider: key.provider,
    name: key.name,
    slug: key.slug,
    secret: '',
    host: key.custom_host ?? '',
    fields: key.fields,
    budget: budget ? String(budget.credit_limit) : '',
    period: budget ? ((budget.periodic_reset as Period | null) ?? 'none') : 'monthly',
    rate: rate ? String(rate.value) : '',
    unsupported: key.unsupported_parameters ?? 'refuse',
  };
}

/** A field that is only part of the address is not needed with a custom host. */
export const isNeeded = (field: CatalogProvider['fields'][number], { host }: Form): boolean =>
  field.is_required && field.default === null && !(field.is_in_address && host.trim() !== '');

/** Whether all fields required by the provider are set. `isStored`: its secret is stored already. */
export function isWhole(form: Form, provider: CatalogProvider | undefined, isStored: boolean): boolean {
  if (!provider || form.name.trim() === '' || !isAmount(form.budget) || !isAmount(form.rate)) return false;
  return isReachable(form, provider, isStored);
}

/** Whether the form has enough to contact the provider. */
export function isReachable(form: Form, provider: CatalogProvider, isStored: boolean): boolean {
  const hasSecret = isStored || provider.key === 'none' || form.secret !== '';
  const hasHost = provider.custom_host !== 'required' || form.host.trim() !== '';
  return (
    hasSecret &&
    hasHost &&
    provider.fields.every((field) => !isNeeded(field, form) || form.fields[field.name])
  );
}

/** Only fields of the chosen provider: values entered for another one are ignored. */
const fieldsOf = (form: Form, { fields }: CatalogProvider): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap(({ name }) => (form.fields[name]?.trim() ? [[name, form.fields[name].trim()]] : [])),
  );

const limits = ({ budget, period, rate }: Form) => ({
  usage_limits:
    budget === ''
      ? null
      : {
          credit_limit: Number(budget),
          type: 'cost' as const,
          periodic_reset: period === 'none' ? null : period,
        },
  rate_limits:
    rate === '' ? null : [{ type: 'requests' as const, unit: 'rpm' as const, value: Number(rate) }],
});

const destination = (form: Form, provider: CatalogProvider): UnsavedCredential => ({
  provider: provider.id as UnsavedCredential['provider'],
  ...(form.secret !== '' && provider.key === 'required' && { key: form.secret }),
  ...(form.host.trim() !== '' && provider.custom_host !== 'none' && { custom_host: form.host.trim() }),
  fields: fieldsOf(form, provider),
});

export const testBody = (form: Form, provider: CatalogProvider, workspace: string): UnsavedCredential => ({
  ...destination(form, provider),
  workspace_id: workspace,
});

export const newBody = (form: Form, provider: CatalogProvider, workspace: string): NewVirtualKey => ({
  ...destination(form, provider),
  name: form.name.trim(),
  slug: form.slug || slugOf(form.name),
  workspace_id: workspace,
  unsupported_parameters: form.unsupported,
  ...limits(form),
});

/** The differences from the stored key. Limits that the form cannot represent stay unchanged. */
export function changeOf(form: Form, key: VirtualKey, provider: CatalogProvider): VirtualKeyChange {
  const before = formOf(key);
  const { key: secret, custom_host = null, fields } = destination(form, provider);
  const hasOtherLimits =
    form.budget !== before.budget || form.period !== before.period || form.rate !== before.rate;
  return {
    ...(form.name.trim() !== before.name && { name: form.name.trim() }),
    ...(secret !== undefined && { key: secret }),
    ...(form.host.trim() !== before.host && { custom_host }),
    ...(JSON.stringify(fields) !== JSON.stringify(fieldsOf(before, provider)) && { fields }),
    ...(form.unsupported !== before.unsupported && { unsupported_parameters: form.unsupported }),
    ...(hasPlainLimits(key) && hasOtherLimits && limits(form)),
  };
}

/** Changing the host requires the secret again: it must not be sent where it was not entered for. */
export const needsSecretAgain = (form: Form, key: VirtualKey): boolean =>
  form.host.trim() !== (key.custom_host ?? '');
