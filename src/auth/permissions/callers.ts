import { AppError } from '../../common/errors/app-error.js';
import type { Principal, PrincipalKind } from '../principal.js';

/**
 * The kinds of callers for an operation, as in the permission tables: `administrators` manage the organization, its workspaces and its
 * users, which no workspace key may; `workspace` is for users of a workspace (feedback), which no admin key may.
 */
export type CallersOf = 'anybody' | 'administrators' | 'workspace';

interface Callers {
  readonly kinds: ReadonlySet<PrincipalKind>;
  /** The error for other callers. */
  readonly refusal: string;
}

const CALLERS: Readonly<Record<Exclude<CallersOf, 'anybody'>, Callers>> = {
  administrators: {
    kinds: new Set<PrincipalKind>(['admin_key', 'person']),
    refusal: 'this operation is for admin keys and users, not for workspace keys',
  },
  workspace: {
    kinds: new Set<PrincipalKind>([
      'workspace_service_key',
      'workspace_user_key',
      'workspace_token',
      'person',
    ]),
    refusal: 'this operation is for workspace keys, not for admin keys',
  },
};

/** Refuses with `forbidden` a caller of another kind. */
export function requireCaller(caller: Principal, callers: CallersOf): void {
  if (callers === 'anybody') return;
  const { kinds, refusal } = CALLERS[callers];
  if (!kinds.has(caller.kind)) throw new AppError('forbidden', { detail: refusal });
}
