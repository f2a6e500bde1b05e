import { AppError } from '../../common/errors/app-error.js';
import type { Principal, PrincipalKind } from '../principal.js';

/**
 * Which kinds of callers an operation is for, as the permission tables have it:
 * `administrators` manage the organization, its workspaces and its users, which no workspace key may;
 * `workspace` is for those who use a workspace (feedback), which no admin key may.
 */
export type CallersOf = 'anybody' | 'administrators' | 'workspace';

interface Callers {
  readonly kinds: ReadonlySet<PrincipalKind>;
  /** What the others are answered. */
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

/** Refuses with `forbidden` a caller of a kind that an operation is not for. */
export function requireCaller(caller: Principal, callers: CallersOf): void {
  if (callers === 'anybody') return;
  const { kinds, refusal } = CALLERS[callers];
  if (!kinds.has(caller.kind)) throw new AppError('forbidden', { detail: refusal });
}
