import { type ApiKey, type ApiKeyChange, limitsOf, type NewApiKey } from '../../api/keys';
import { apiKeyWords } from '../../words/api-keys';
import {
  type BudgetRow,
  budgetRow,
  budgetsOf,
  NEW_BUDGET,
  NEW_RATE,
  type RateRow,
  rateRow,
  ratesOf,
} from './limit-rows';

const texts = apiKeyWords.dialog;
const DAY_MS = 86_400_000;

/** The form of a key. */
export interface KeyForm {
  readonly name: string;
  readonly description: string;
  readonly owner: 'service' | 'user';
  readonly scopes: ReadonlySet<string>;
  readonly budgets: readonly BudgetRow[];
  readonly rates: readonly RateRow[];
  readonly resetsUsage: boolean;
  /** Days from now, or "never"; "kept" for the expiry that the key has. */
  readonly expires: string;
  readonly configId: string;
  readonly allowsConfigOverride: boolean;
  /** A line for each entry: `team=checkout`. */
  readonly metadata: string;
  /** Separated by commas. */
  readonly alertEmails: string;
}

export type OnForm = (part: Partial<KeyForm>) => void;

export const EMPTY: KeyForm = {
  name: '',
  description: '',
  owner: 'service',
  scopes: new Set(),
  budgets: [NEW_BUDGET],
  rates: [NEW_RATE],
  resetsUsage: false,
  expires: 'never',
  configId: '',
  allowsConfigOverride: true,
  metadata: '',
  alertEmails: '',
};

const linesOf = (metadata: Readonly<Record<string, string>> | null | undefined): string =>
  Object.entries(metadata ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

export function formOf(key: ApiKey): KeyForm {
  const { metadata, config_id = null, allow_config_override = true } = key.defaults;
  return {
    ...EMPTY,
    name: key.name,
    description: key.description ?? '',
    scopes: new Set(key.scopes),
    budgets: limitsOf(key).map(budgetRow),
    rates: (key.rate_limits ?? []).map(rateRow),
    expires: 'kept',
    configId: config_id ?? '',
    allowsConfigOverride: allow_config_override,
    metadata: linesOf(metadata),
    alertEmails: key.alert_emails.join(', '),
  };
}

/** Undefined where the form keeps the expiry of the key. */
export const expiryOf = ({ expires }: KeyForm, now: number): Date | null | undefined => {
  if (expires === 'kept') return undefined;
  return expires === 'never' ? null : new Date(now + Number(expires) * DAY_MS);
};

const ENTRY = /^([^=]+)=(.*)$/;
const filledLines = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '');

const metadataOf = ({ metadata }: KeyForm): Readonly<Record<string, string>> | null => {
  const entries = filledLines(metadata).map((line) => {
    const [, name = '', value = ''] = ENTRY.exec(line) ?? [];
    return [name.trim(), value.trim()];
  });
  return entries.length === 0 ? null : (Object.fromEntries(entries) as Record<string, string>);
};

const emailsOf = ({ alertEmails }: KeyForm): string[] =>
  alertEmails.split(/[\s,]+/).filter((email) => email !== '');

/** What has to be entered or corrected before the key can be saved, as ends of the sentence "Missing: …". */
export const missingOf = (form: KeyForm): readonly string[] => [
  ...(form.name.trim() === '' ? [texts.missing.name] : []),
  ...(form.scopes.size === 0 ? [texts.missing.scopes] : []),
  ...(budgetsOf(form.budgets) === null ? [texts.missing.budget] : []),
  ...(ratesOf(form.rates) === null ? [texts.missing.rate] : []),
  ...(filledLines(form.metadata).every((line) => ENTRY.test(line)) ? [] : [texts.missing.metadata]),
];

/** A field of the API, the fields of the form that it is made of, and how. */
type Field = readonly [name: string, of: keyof KeyForm, valueOf: (form: KeyForm, now: number) => unknown];

const FIELDS: readonly Field[] = [
  ['name', 'name', ({ name }) => name.trim()],
  ['description', 'description', ({ description }) => description.trim() || null],
  ['scopes', 'scopes', ({ scopes }) => [...scopes]],
  ['usage_limits', 'budgets', ({ budgets }) => budgetsOf(budgets) ?? []],
  ['rate_limits', 'rates', ({ rates }) => ratesOf(rates) ?? []],
  ['reset_usage', 'resetsUsage', ({ resetsUsage }) => resetsUsage],
  ['expires_at', 'expires', (form, now) => expiryOf(form, now)?.toISOString() ?? null],
  ['alert_emails', 'alertEmails', emailsOf],
];

const DEFAULTS: readonly Field[] = [
  ['config_id', 'configId', ({ configId }) => configId.trim() || null],
  ['allow_config_override', 'allowsConfigOverride', (form) => form.allowsConfigOverride],
  ['metadata', 'metadata', metadataOf],
];

const plain = (value: unknown): string =>
  JSON.stringify(value instanceof Set ? [...(value as Set<string>)].sort() : value);

const differing = (fields: readonly Field[], form: KeyForm, before: KeyForm, now: number): object =>
  Object.fromEntries(
    fields
      .filter(([, of]) => plain(form[of]) !== plain(before[of]))
      .map(([name, , valueOf]) => [name, valueOf(form, now)]),
  );

/** Only what differs: other fields stay as they are, also if someone else changed them meanwhile. */
export function changeOf(form: KeyForm, before: KeyForm, now: number): ApiKeyChange {
  const defaults = differing(DEFAULTS, form, before, now);
  return {
    ...differing(FIELDS, form, before, now),
    ...(Object.keys(defaults).length > 0 && { defaults }),
  };
}

export const isChangedFrom = (form: KeyForm, before: KeyForm): boolean =>
  Object.keys(changeOf(form, before, 0)).length > 0;

/** `workspace`: null for a key of the organization. */
export const newBody = (form: KeyForm, workspace: string | null, now: number): NewApiKey => ({
  ...(changeOf(form, EMPTY, now) as NewApiKey),
  ...(workspace !== null && { workspace_id: workspace }),
});
