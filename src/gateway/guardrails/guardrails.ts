import { Injectable } from '@nestjs/common';
import { isPromise, mapMaybePromise } from '../../common/maybe-promise.js';
import type { Reach } from '../../auth/tenant.js';
import type { HookSpec } from '../../routing-config/guardrails/hook.js';
import {
  HOOK_LIST_NAMES,
  HOOK_LISTS,
  type HookListName,
  type HookLists,
  type HookSide,
  readHook,
} from '../../routing-config/guardrails/read-hooks.js';
import { type Mistake, mistakeDetails } from '../../routing-config/routing-config.js';
import { DocumentPath } from '../../routing-config/document-path.js';
import { AppError } from '../../common/errors/app-error.js';
import { GuardrailDirectory, type GuardrailSnapshot } from '../ports.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { ProviderCaller } from './calling/provider-caller.js';
import { type CheckTools, makeCheck } from './checks/index.js';
import { type Hook, readsTexts } from './run-hooks.js';

/** The guardrails of one target, built. */
export interface Guards {
  readonly input: readonly Hook[];
  readonly output: readonly Hook[];
}

export const NO_GUARDS: Guards = { input: [], output: [] };

/** The guardrails of the organization and the workspace, marked as such. */
export const asRequired = (imposed: Guards): Guards =>
  imposed === NO_GUARDS
    ? NO_GUARDS
    : { input: imposed.input.map(asImposed), output: imposed.output.map(asImposed) };

/** The guardrails of the organization and the workspace, and those of the config after them. */
export const joinedGuards = (required: Guards, own: Guards): Guards =>
  required === NO_GUARDS
    ? own
    : { input: [...required.input, ...own.input], output: [...required.output, ...own.output] };

const imposedHooks = new WeakMap<Hook, Hook>();

/** Built once per guardrail, not once per request. */
function asImposed(hook: Hook): Hook {
  const known = imposedHooks.get(hook);
  if (known) return known;
  const imposed = { ...hook, isImposed: true };
  imposedHooks.set(hook, imposed);
  return imposed;
}

/** An inline hook, or the reference to a stored one. */
type Slot = Hook | { readonly slug: string; readonly type: HookSpec['type'] };

/** The parsed lists of one place. */
interface Lists {
  readonly input: readonly Slot[];
  readonly output: readonly Slot[];
  /** The built guardrails, if none of them is stored. */
  readonly made: Guards | null;
}

const NOTHING: readonly unknown[] = [];

/** Builds the guardrails of configs: once per config, and once per stored guardrail. */
@Injectable()
export class Guardrails {
  private readonly tools: CheckTools;
  private readonly lists = new WeakMap<HookLists, Lists>();
  private readonly written = new WeakMap<readonly unknown[], readonly Slot[]>();
  private readonly stored = new WeakMap<GuardrailSnapshot, Map<HookSpec['type'], Hook>>();

  constructor(
    private readonly directory: GuardrailDirectory,
    http: HttpCaller,
    provider: ProviderCaller,
  ) {
    this.tools = { http, provider };
  }

  /**
   * Returns without a promise when every stored guardrail is in memory. Rejects with `not_found` for an id that is not accessible: a config
   * with a guardrail must not be served without it.
   */
  find(reach: Reach, lists: HookLists): Guards | Promise<Guards> {
    const { input, output, made: known } = this.lists.get(lists) ?? this.read(lists);
    if (known) return known;
    const before = this.hooksOf(reach, input);
    const after = this.hooksOf(reach, output);
    if (!isPromise(before) && !isPromise(after)) return { input: before, output: after };
    return Promise.all([before, after]).then(([made, madeToo]) => ({ input: made, output: madeToo }));
  }

  private read(lists: HookLists): Lists {
    const input = this.slotsOf(lists, 'input');
    const output = this.slotsOf(lists, 'output');
    const made = input.every(isWritten) && output.every(isWritten) ? { input, output } : null;
    const read = { input, output, made };
    this.lists.set(lists, read);
    return read;
  }

  private hooksOf(reach: Reach, slots: readonly Slot[]): readonly Hook[] | Promise<readonly Hook[]> {
    const hooks = slots.map((slot) =>
      isWritten(slot) ? slot : this.storedHook(reach, slot.slug, slot.type),
    );
    return hooks.every((hook): hook is Hook => !isPromise(hook))
      ? hooks
      : Promise.all(hooks.map((hook) => Promise.resolve(hook)));
  }

  private storedHook(reach: Reach, slug: string, type: HookSpec['type']): Hook | Promise<Hook> {
    const found = this.directory.find(reach, slug);
    return mapMaybePromise(found, (snapshot) => this.hookOf(snapshot, slug, type));
  }

  private hookOf(snapshot: GuardrailSnapshot | null, slug: string, type: HookSpec['type']): Hook {
    if (!snapshot) throw new AppError('not_found', { resource: `guardrail "${slug.slice(0, 64)}"` });
    const byType = this.stored.get(snapshot) ?? new Map<HookSpec['type'], Hook>();
    this.stored.set(snapshot, byType);
    const hook = byType.get(type) ?? this.make({ ...snapshot.spec, type });
    byType.set(type, hook);
    return hook;
  }

  private slotsOf(lists: HookLists, side: HookSide): readonly Slot[] {
    return HOOK_LIST_NAMES.filter((name) => HOOK_LISTS[name].side === side).flatMap((name) =>
      this.slotsIn(lists[name] ?? NOTHING, name),
    );
  }

  /** Targets inherit the same list objects from their parents, so that each list is built once. */
  private slotsIn(items: readonly unknown[], name: HookListName): readonly Slot[] {
    const known = this.written.get(items);
    if (known) return known;
    const { side, type } = HOOK_LISTS[name];
    const mistakes: Mistake[] = [];
    const place = DocumentPath.root(mistakes, `config.${name}`);
    const slots = items.flatMap((item, index): Slot[] => {
      if (typeof item === 'string') return [{ slug: item, type }];
      const spec = readHook(item, place.at(index), { side, type, id: `${name}[${index}]` });
      return spec ? [this.make(spec)] : [];
    });
    // Configs are validated before this. A remaining mistake must not be skipped silently.
    if (mistakes.length > 0) throw new AppError('config_invalid', mistakeDetails(mistakes));
    this.written.set(items, slots);
    return slots;
  }

  private make(spec: HookSpec): Hook {
    const checks = spec.checks
      .filter(({ isEnabled }) => isEnabled)
      .map((check) => ({ spec: check, check: makeCheck(check, this.tools), readsTexts: readsTexts(check) }));
    return { spec, checks };
  }
}

function isWritten(slot: Slot): slot is Hook {
  return !('slug' in slot);
}
