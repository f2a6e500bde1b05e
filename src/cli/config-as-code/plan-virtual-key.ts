import {
  checkSecret,
  providerOf,
  readDestination,
  type RequestedDestination,
} from '../../admin/credentials/destination-of-key.js';
import { parseDestination } from '../../common/net/destination.js';
import { DAY_CHARACTERS, isDay } from '../../common/http/validators.js';
import type { JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, specified, created } from './change.js';
import { limitsIn } from './declared-limits.js';
import type { DeclaredVirtualKey, SecretSource } from './document.js';
import type { PlanningContext } from './planning.js';

/** The request that makes a virtual key match the file, if needed. */
export async function planVirtualKey(
  planning: PlanningContext,
  key: DeclaredVirtualKey,
  index: number,
): Promise<DeclaredChange[]> {
  const { slug, workspace, key: source, ...fields } = key;
  const declared = wantedOf(fields);
  const what = `virtual key "${slug}"`;
  const place = ['virtual_keys', index, 'workspace'];
  const current = await planning.find(`/v1/virtual-keys/${slug}`);
  if (current) await planning.checkStays(current, workspace, place);
  const secret = await secretFor(planning, { key, source, current, index }, declared);
  if (current) {
    const now = { ...current, ...limitsIn(current) };
    return updated({ what, path: `/v1/virtual-keys/${slug}` }, now, declared, { key: secret });
  }
  const shown = { name: key.name ?? slug, ...declared };
  const change = created(what, '/v1/virtual-keys', { slug, ...shown }, { key: secret });
  return [await planning.madeIn(workspace, place, change)];
}

/** The fields that can be compared with the current ones, as the administration stores them. */
function wantedOf({
  custom_host: host,
  expires_at: end,
  ...rest
}: Omit<DeclaredVirtualKey, 'slug' | 'workspace' | 'key'>): JsonRecord {
  return specified({
    ...rest,
    ...limitsIn(rest),
    custom_host: host == null ? host : canonicalUrl(host),
    expires_at: end == null ? end : canonicalMoment(end),
  });
}

/** The secret to send for a key that is new or changes its destination. Notes what does not match, and what is missing. */
async function secretFor(
  planning: PlanningContext,
  judged: JudgedVirtualKey,
  declared: JsonRecord,
): Promise<string | undefined> {
  const { key, source, current, index } = judged;
  const isFitting = checkDestination(planning, judged);
  const isNeeded =
    current === null || ['provider', 'custom_host'].some((name) => isOther(current, declared, name));
  if (!isNeeded) return undefined;
  const secret = source && (await planning.secretFrom(source, ['virtual_keys', index, 'key']));
  if (isFitting && (!source || secret !== undefined))
    planning.judge(['virtual_keys', index, 'key'], () =>
      checkSecret(secret, providerOf(key.provider), NEEDS_SECRET),
    );
  return secret;
}

const NEEDS_SECRET =
  'it is missing; a virtual key that is new or has another provider or host needs the provider key: {from_env: NAME} or {from_file: path}.';

interface JudgedVirtualKey {
  readonly key: DeclaredVirtualKey;
  readonly source: SecretSource | undefined;
  readonly current: JsonRecord | null;
  readonly index: number;
}

/** Only the service can decide which addresses are allowed. */
const ANY_ADDRESS = { checkDestination: (): void => undefined };

/** Provider, address and account of the key after the change. False, with a mistake noted, when they do not match. */
function checkDestination(planning: PlanningContext, { key, current, index }: JudgedVirtualKey): boolean {
  const declared: RequestedDestination = {
    provider: key.provider,
    customHost:
      key.custom_host === undefined ? ((current?.custom_host as string | null) ?? null) : key.custom_host,
    fields: key.fields ?? (current?.fields as JsonRecord | undefined) ?? {},
  };
  const place = ['virtual_keys', index];
  if (!planning.judge([...place, 'provider'], () => providerOf(key.provider))) return false;
  const { custom_host: host } = key;
  if (host != null && !planning.judge([...place, 'custom_host'], () => parseDestination(host))) return false;
  return planning.judge(place, () => readDestination(declared, ANY_ADDRESS));
}

const isOther = (current: JsonRecord, declared: JsonRecord, name: string): boolean =>
  name in declared && (current[name] ?? null) !== (declared[name] ?? null);

/** As the administration stores it. */
function canonicalUrl(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
}

/** Invalid times pass unchanged, for the administration to refuse. */
function canonicalMoment(text: string): string {
  const moment = Date.parse(text);
  return Number.isNaN(moment) || !isDay(text.slice(0, DAY_CHARACTERS))
    ? text
    : new Date(moment).toISOString();
}
