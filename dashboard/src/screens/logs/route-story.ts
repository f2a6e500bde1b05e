import type { LogAttempt, LogDetail } from '../../api/logs';
import { duration, money, short } from '../../parts/format/numbers';
import type { Tone } from '../../parts/values/values';
import { words } from '../../words/en';
import { routeWords as route } from '../../words/log-route';

/** One sentence of a request's route, and what the record says about it. */
export interface Step {
  readonly icon: 'route' | 'retry' | 'fallback' | 'done' | 'failed' | 'cache';
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  /** Milliseconds after the request arrived. */
  readonly atMs: number;
}

/** Explains the route of a request from the recorded decisions and attempts. Nothing is guessed. */
export function routeStory(log: LogDetail): readonly Step[] {
  return [beginning(log), ...log.attempts.map((attempt) => attemptStep(log, attempt)), ending(log)];
}

function beginning(log: LogDetail): Step {
  const { route: decisions, config, provider, virtual_key } = log;
  const shared = { icon: 'route', tone: 'accent', atMs: 0 } as const;
  const text = decisions.map((decision) => SENTENCES[decision.kind](decision)).join(' ');
  if (config)
    return { ...shared, title: route.chosen(config.name, config.version), text: text || route.fixed };
  if (decisions.length > 0) return { ...shared, title: route.decided, text };
  return {
    ...shared,
    title: route.direct(virtual_key ?? provider ?? words.parts.unknown),
    text: route.directText,
  };
}

type Decision = LogDetail['route'][number];

/** A sentence for each kind of decision; without one, the recorded text. */
const SENTENCES: Readonly<Record<Decision['kind'], (decision: Decision) => string>> = {
  condition: ({ path, condition, target }) =>
    route.condition(route.conditionAt((condition ?? 0) + 1, ownerOf(path)), placeOf(target)),
  default: ({ path, target }) => route.default(ownerOf(path), placeOf(target)),
  no_target: ({ path }) => route.noTarget(ownerOf(path)),
  balance: ({ target, by }) =>
    route.balance(placeOf(target), route.balanceBy[by ?? ''] ?? by ?? words.parts.unknown),
  hedge: ({ target, after_ms }) => route.hedge(placeOf(target), duration(after_ms)),
  out_of_service: ({ text }) => `${text}.`,
  note: ({ text }) => `${text}.`,
};

/** `config.targets[0].targets[1]` is target 1.2, counted from one. Null is the config itself. */
function targetNumber(path: string): string | null {
  const places = [...path.matchAll(/targets\[(\d+)\]/g)].map(([, place]) => Number(place) + 1);
  return places.length > 0 ? route.targetAt(places.join('.')) : null;
}

const placeOf = (path: string | null): string =>
  path === null ? words.parts.unknown : (targetNumber(path) ?? route.wholeConfig);

/** The target with the conditions, or null for those at the top level of the config. */
const ownerOf = (path: string | null): string | null => (path === null ? null : targetNumber(path));

/** The setting within its target: `retry.on_status_codes`. */
const settingName = (path: string): string => path.replace(/^config\.(?:targets\[\d+\]\.)*/, '');

/** The provider alone does not distinguish two targets. */
const targetOf = (log: LogDetail, { provider, virtual_key_id, option_path }: LogAttempt): string => {
  const isNamed =
    virtual_key_id !== null && virtual_key_id === log.virtual_key_id && log.virtual_key !== null;
  const name = isNamed ? (log.virtual_key ?? provider) : provider;
  const place = option_path === null ? null : targetNumber(option_path);
  return place === null ? name : `${name} (${place})`;
};

type Kind = LogAttempt['reason']['kind'];

const PREFIXES: Readonly<Record<Kind, ((target: string) => string) | null>> = {
  first: null,
  retry: route.retried,
  fallback: route.fellBack,
  hedge: route.hedged,
  side_call: route.sideCall,
};
const ICONS: Readonly<Record<Kind, Step['icon']>> = {
  first: 'failed',
  retry: 'retry',
  fallback: 'fallback',
  hedge: 'fallback',
  side_call: 'cache',
};

function attemptStep(log: LogDetail, attempt: LogAttempt): Step {
  const target = targetOf(log, attempt);
  const { status, error_code, reason } = attempt;
  const isSuccess = status !== null && status < 400;
  const result = status === null ? route.failed(error_code ?? words.parts.unknown) : route.answered(status);
  const prefix = PREFIXES[reason.kind]?.(target);
  return {
    icon: isSuccess ? 'done' : ICONS[reason.kind],
    tone: isSuccess ? 'success' : 'warning',
    title: prefix === undefined ? `${target} ${result}` : `${prefix}, which ${result}`,
    text: [reasonText(attempt), attemptText(attempt), chargeText(attempt)].filter(Boolean).join(' '),
    atMs: Date.parse(attempt.started_at) - Date.parse(log.created_at),
  };
}

/** The list of the config, or the default rule, that led to the attempt. */
function reasonText({ reason: { kind, status, error_code, setting } }: LogAttempt): string {
  if (kind !== 'retry' && kind !== 'fallback') return '';
  if (setting !== null && status !== null) return route.listed(status, settingName(setting));
  const result = status === null ? (error_code ?? words.parts.unknown) : route.status(status);
  return route.byDefault[kind](result);
}

export type ChargedBudget = LogAttempt['charged_to'][number];

export const budgetName = ({ subject, name }: ChargedBudget): string =>
  subject === null || name === null ? route.budgets.removed : route.budgets.subjects[subject](name);

/** Empty if nothing was used: a provider's refusal reserves a budget and releases all of it. */
function chargeText({ input_tokens, output_tokens, cost_nano_usd, charged_to }: LogAttempt): string {
  const tokens = (input_tokens ?? 0) + (output_tokens ?? 0);
  if (tokens === 0 && !cost_nano_usd) return '';
  const used = tokens > 0 ? route.charged(money(cost_nano_usd), short(tokens)) : '';
  const budgets = charged_to.length > 0 ? route.chargedTo(charged_to.map(budgetName).join(', ')) : '';
  return [used, budgets].filter(Boolean).join(' ');
}

function attemptText({ first_byte_ms, duration_ms, error_code }: LogAttempt): string {
  const time =
    first_byte_ms === null
      ? route.attemptNoByte(duration(duration_ms))
      : route.attemptText(duration(duration_ms), duration(first_byte_ms));
  return error_code === null ? time : `${time} ${route.because(error_code)}`;
}

function ending(log: LogDetail): Step {
  const { status, attempts, error_code, cache_status, duration_ms } = log;
  const shared = { atMs: duration_ms } as const;
  if (attempts.length === 0 && cache_status?.includes('HIT'))
    return {
      ...shared,
      icon: 'cache',
      tone: 'success',
      title: route.cached,
      text: route.cachedText(money(log.saved_nano_usd)),
    };
  const text =
    attempts.length === 0 && error_code
      ? `${route.noAttempt}. ${route.refused(error_code)}`
      : (route.endings[log.ending] ?? log.ending);
  return {
    ...shared,
    icon: status < 400 ? 'done' : 'failed',
    tone: status < 400 ? 'success' : 'error',
    title: route.delivered(status),
    text,
  };
}
