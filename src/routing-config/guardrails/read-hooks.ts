import { z } from 'zod';
import { readBySchema, type SchemaMistake } from '../../common/json/read-by-schema.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { type CheckId, checkIdOf, checkRow, CHECKS } from './check-parameters.js';
import type { DocumentPath } from '../document-path.js';
import { withoutSecrets } from './check-secrets.js';
import type { CheckSpec, HookFeedback, HookSpec } from './hook.js';

/** Reads guardrails from documents. All mistakes are reported at once, each with its path. */

export type HookSide = 'input' | 'output';

/** The guardrail lists of a routing config, and their content. */
export const HOOK_LISTS = {
  before_request_hooks: { side: 'input', type: 'guardrail' },
  input_guardrails: { side: 'input', type: 'guardrail' },
  input_mutators: { side: 'input', type: 'mutator' },
  after_request_hooks: { side: 'output', type: 'guardrail' },
  output_guardrails: { side: 'output', type: 'guardrail' },
  output_mutators: { side: 'output', type: 'mutator' },
} as const satisfies Readonly<Record<string, { readonly side: HookSide; readonly type: HookSpec['type'] }>>;

export type HookListName = keyof typeof HOOK_LISTS;
export const HOOK_LIST_NAMES = Object.keys(HOOK_LISTS) as readonly HookListName[];
export type HookLists = { readonly [Name in HookListName]?: readonly unknown[] };

type HookDocument = Readonly<Record<string, unknown>>;

const CHECKS_MAX = 50;
const HOOKS_MAX = 50;
const SLUG_CHARS_MAX = 64;

const feedback = z.object({
  feedback: z
    .object({
      value: z.number().min(-10).max(10).optional(),
      weight: z.number().min(0).max(1).optional(),
      metadata: z.unknown().optional(),
    })
    .nullish(),
});

const actions = z.object({
  deny: z.boolean().default(false),
  async: z.boolean().default(false),
  sequential: z.boolean().default(false),
  fail_on_error: z.boolean().default(false),
  on_success: feedback.nullish(),
  on_fail: feedback.nullish(),
});

const ACTIONS: ReadonlySet<string> = new Set(Object.keys(actions.shape));
/** Fields of an inline guardrail besides checks and actions. */
const NAMES: ReadonlySet<string> = new Set(['id', 'name', 'type', 'checks', 'guardrail_version_id']);

/** The position of a hook, which determines what it may contain. */
export interface HookContext {
  readonly side: HookSide | null;
  readonly type: HookSpec['type'];
  /** Default name. */
  readonly id: string;
}

/**
 * An inline guardrail: its checks in a list, `{ checks: [{ id, parameters }] }`, or by name, `{ "default.contains": { words: [...] } }`.
 * Undefined when it is invalid, with mistakes noted at its path.
 */
export function readHook(value: unknown, at: DocumentPath, context: HookContext): HookSpec | undefined {
  if (!isObject(value)) return at.refuse('must be the id of a guardrail, or one written out as an object');
  const before = at.mistakeCount;
  refuseUnknown(value, at);
  const type = typeOf(value.type, at.at('type')) ?? context.type;
  const checks = [...readChecks(value.checks, at.at('checks')), ...readNamedChecks(value, at)];
  if (checks.length === 0 && at.mistakeCount === before) at.refuse('has no checks');
  for (const check of checks) checkPlace(check.id, { ...context, type }, at);
  const read = readActions(value, at);
  const id = textOf(value.id) ?? textOf(value.name) ?? context.id;
  return read && at.mistakeCount === before ? { id, type, checks, ...read } : undefined;
}

function refuseUnknown(value: HookDocument, at: DocumentPath): void {
  for (const key of Object.keys(value))
    if (!isCheckName(key) && !ACTIONS.has(key) && !NAMES.has(key))
      at.at(key).refuse(`is not a known field${didYouMean(key, [...ACTIONS, ...NAMES])}`);
}

/** Names of checks contain a dot, `default.contains`; no other field does. */
const isCheckName = (key: string): boolean => key.includes('.');

function readNamedChecks(value: HookDocument, at: DocumentPath): CheckSpec[] {
  return Object.entries(value)
    .filter(([key]) => isCheckName(key))
    .map(([id, parameters]) => readCheck({ id, parameters }, at.at(id), at.at(id)))
    .filter((check) => check !== undefined);
}

/** The reactions of a guardrail to its verdict. */
export function readActions(
  value: HookDocument,
  at: DocumentPath,
): Pick<HookSpec, 'deny' | 'isAsync' | 'isSequential' | 'failOnError' | 'onSuccess' | 'onFail'> | undefined {
  const read = readBySchema(actions, value);
  if (read.mistakes) return noteMistakes(read.mistakes, at);
  const { deny, async: isAsync, sequential: isSequential, fail_on_error: failOnError } = read.data;
  const of = (given: { readonly feedback?: HookFeedback | null | undefined } | null | undefined) =>
    given?.feedback ?? null;
  return {
    deny,
    isAsync,
    isSequential,
    failOnError,
    onSuccess: of(read.data.on_success),
    onFail: of(read.data.on_fail),
  };
}

/** A list of checks, `[{ id, parameters, name, is_enabled }]`. Invalid ones are left out, with mistakes noted at their path. */
export function readChecks(value: unknown, at: DocumentPath): CheckSpec[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > CHECKS_MAX) {
    at.refuse(`must be a list of 1 to ${CHECKS_MAX} checks`);
    return [];
  }
  return value
    .map((item: unknown, index) => readCheck(item, at.at(index), at.at(index).at('parameters')))
    .filter((check) => check !== undefined);
}

function readCheck(value: unknown, at: DocumentPath, parametersAt: DocumentPath): CheckSpec | undefined {
  if (!isObject(value) || typeof value.id !== 'string')
    return at.refuse('must be a check: { id, parameters }');
  const id = checkIdOf(value.id);
  if (!id) return at.refuse(unknownCheck(value.id));
  const isEnabled = value.is_enabled ?? true;
  if (typeof isEnabled !== 'boolean') return at.at('is_enabled').refuse('must be true or false');
  const read = readBySchema(checkRow(id).parameters, value.parameters ?? {});
  if (read.mistakes) return noteMistakes(read.mistakes, parametersAt);
  return { id, name: textOf(value.name) ?? null, parameters: read.data, isEnabled };
}

function unknownCheck(id: string): string {
  const known = Object.keys(CHECKS);
  const hint = didYouMean(id.slice(0, 64), known);
  return `names an unknown check, "${id.slice(0, 64)}"${hint} (default.webhook calls your own service). Checks: ${known.join(', ')}`;
}

function checkPlace(id: CheckId, { side, type }: HookContext, at: DocumentPath): void {
  const row = checkRow(id);
  if (side === 'output' && row.side === 'input') at.refuse(`has ${id}, which checks requests only`);
  if (type === 'mutator' && !row.mutates)
    at.refuse(`has ${id}, which changes nothing, so it cannot be part of a mutator`);
}

function typeOf(value: unknown, at: DocumentPath): HookSpec['type'] | undefined {
  if (value === undefined || value === null) return undefined;
  return value === 'guardrail' || value === 'mutator' ? value : at.refuse('must be "guardrail" or "mutator"');
}

function noteMistakes(mistakes: readonly SchemaMistake[], at: DocumentPath): undefined {
  for (const { path, rule } of mistakes)
    path.reduce<DocumentPath>((from, step) => from.at(step), at).refuse(`is invalid: ${rule}`);
  return undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 128) : undefined;

function isObject(value: unknown): value is HookDocument {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One list of a config: ids of stored guardrails, and inline ones. Returns the list as written, so that it can be stored; it is valid then.
 */
export function readHookList(
  value: unknown,
  name: HookListName,
  at: DocumentPath,
): readonly (string | HookDocument)[] | undefined {
  if (!Array.isArray(value) || value.length > HOOKS_MAX)
    return at.refuse(`must be a list of at most ${HOOKS_MAX} items`);
  const { side, type } = HOOK_LISTS[name];
  value.forEach((item: unknown, index) => {
    if (typeof item !== 'string') readHook(item, at.at(index), { side, type, id: '' });
    else if (item === '' || item.length > SLUG_CHARS_MAX)
      at.at(index).refuse('must be the id of a guardrail');
  });
  return value as readonly (string | HookDocument)[];
}

/** Whether an inline guardrail contains something that must not be stored in clear text. */
export function holdsSecrets(item: string | HookDocument): boolean {
  if (typeof item === 'string') return false;
  const listed = Array.isArray(item.checks) ? (item.checks as readonly unknown[]).filter(isObject) : [];
  const named = Object.entries(item).map(([id, parameters]) => ({ id, parameters }));
  return Object.keys(withoutSecrets([...listed, ...named]).secrets).length > 0;
}
