import type { Reach } from '../auth/tenant.js';
import type { ClientDisconnectRule } from '../common/contracts/client-disconnect.js';
import type { UnsupportedParameterRule } from '../common/contracts/unsupported-parameters.js';
import type { HookSpec } from '../routing-config/guardrails/hook.js';
import type {
  AttemptRecord,
  CapturedBodies,
  OpenedExchange,
  RequestLogRecord,
} from '../request-log/record.js';
import type { RoutingConfig } from '../routing-config/routing-config.js';
import type { Credentials } from '../providers/auth-scheme.js';
import type { Limit } from '../common/limits/limit.js';
import type { AskAnswer, LimitAsk, LimitReturn, ReturnAnswer } from './limits/store.js';
import type { AllowedModels, OwnPrices } from './types/target.js';

/**
 * All that the data plane asks of the outside world.
 *
 * Each class is both the type and the injection token. src/adapters binds them to
 * PostgreSQL and the spool; tests bind them to plain objects. Nothing in src/gateway may
 * know which.
 */

/** A virtual key, opened: the credentials are in clear and live only in memory. */
export interface VirtualKeySnapshot {
  readonly id: string;
  readonly slug: string;
  readonly workspaceId: string;
  readonly providerId: string;
  /** Base URL that this key pins instead of the provider's own. */
  readonly customHost: string | null;
  readonly credentials: Credentials;
  /** Milliseconds since the epoch, or null. */
  readonly expiresAt: number | null;
  /** Absent when every model may be used. */
  readonly models?: AllowedModels;
  /** Absent when list prices hold. */
  readonly prices?: OwnPrices;
  /** Absent when nothing limits its use. */
  readonly limits?: readonly Limit[];
  /** Absent where the workspace decides. */
  readonly onClientDisconnect?: ClientDisconnectRule;
  /** Absent where unsupported parameters are refused. */
  readonly unsupportedParameters?: UnsupportedParameterRule;
}

export abstract class VirtualKeyDirectory {
  /**
   * The virtual key of that slug within reach, or null. Returns without a promise when it is in memory.
   * Rejects with `auth_unavailable` when the store is unavailable, with `credential_unusable` when it cannot be opened.
   */
  abstract find(reach: Reach, slug: string): VirtualKeySnapshot | null | Promise<VirtualKeySnapshot | null>;
}

/** A virtual key as the list of models needs it: without its credential. */
export interface UsableKey extends Pick<VirtualKeySnapshot, 'slug' | 'providerId' | 'models'> {
  /** Milliseconds since the epoch, or null. */
  readonly expiresAt: number | null;
}

/** Which virtual keys and providers a caller may use. */
export abstract class UsableKeys {
  /**
   * Those within reach: one of each provider and integration by slug, then the others; a thousand at most. The same list for
   * as long as nothing changes. Returns without a promise when it is in memory. Rejects with `auth_unavailable` when the
   * store is unavailable.
   */
  abstract find(reach: Reach): readonly UsableKey[] | Promise<readonly UsableKey[]>;
}

/** A stored guardrail, its secrets in clear. */
export interface GuardrailSnapshot {
  readonly id: string;
  readonly spec: HookSpec;
}

export abstract class GuardrailDirectory {
  /**
   * The guardrail of that slug or id within reach, or null. Returns without a promise when it is in memory. Rejects with
   * `auth_unavailable` when the store is unavailable, with `credential_unusable` when it cannot be opened.
   */
  abstract find(reach: Reach, slug: string): GuardrailSnapshot | null | Promise<GuardrailSnapshot | null>;
}

/** A saved config in the version that is in force. The same object for as long as that version is. */
export interface ConfigSnapshot {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly document: RoutingConfig;
}

export abstract class ConfigDirectory {
  /**
   * The config of that slug or id within reach, or null. Returns without a promise when it is in memory. The last version
   * that was good stays in force while the store is unavailable or holds one that cannot be read. Rejects with `auth_unavailable`
   * when the store is unavailable and nothing is known.
   */
  abstract find(reach: Reach, name: string): ConfigSnapshot | null | Promise<ConfigSnapshot | null>;
}

/** Tells the gateway processes of all instances which targets are out of service. A hint: each finds out by itself, too. */
export abstract class OutageNews {
  /** Never throws and never waits. */
  abstract tell(target: string, cooldownMs: number): void;
  /** Calls back for what other processes tell. */
  abstract subscribe(listener: (target: string, cooldownMs: number) => void): void;
}

/** Keeps the records of exchanges. Never throws and never makes a client wait for a disk flush. */
export abstract class LogSink {
  /** Appends the fact that an exchange began. Answers what was written, which `close` says again. */
  abstract open(exchange: OpenedExchange): string | null;
  /**
   * Appends the attempts so far of an exchange that is under way, as they are recorded if the process dies now. `opened` is what
   * `open` answered; nothing is written where that failed.
   */
  abstract update(exchange: OpenedExchange, attempts: readonly AttemptRecord[], opened: string | null): void;
  /** Appends how it ended. `opened` is what `open` answered, if it was called. */
  abstract close(record: RequestLogRecord, bodies: CapturedBodies, opened?: string | null): void;
  /** False when disk and reserve are full: what is appended now would be lost. */
  abstract get hasRoom(): boolean;
  /** Calls back, within this turn of the event loop, once all that was appended survives a kill of the process. */
  abstract whenWritten(then: () => void): void;
}

/** Where an answer is kept. No two workspaces have a place in common. */
export interface AnswerPlace {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Digest of the request, 64 hexadecimal digits; the tenant is part of it, too. */
  readonly key: string;
}

/** Keeps answers of providers for all processes, for a time. Losing one is no loss. Rejects when the store is unavailable. */
export abstract class AnswerStore {
  /** What was kept there and is not over; null otherwise. */
  abstract find(place: AnswerPlace): Promise<Buffer | null>;
  /** In place of what was there. `expiresAt` is in milliseconds since the epoch. */
  abstract keep(place: AnswerPlace, answer: Buffer, expiresAt: number): Promise<void>;
}

/** Where the vectors of questions lie that are compared with each other. No two workspaces have one in common. */
export interface VectorRoom {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Digest of all that such questions have in common, 64 hexadecimal digits; the tenant is part of it, too. */
  readonly room: string;
}

/** A question whose answer is kept. */
export interface KeptVector {
  /** Of the answer: `AnswerPlace.key`. */
  readonly key: string;
  readonly vector: Buffer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Keeps vectors for all processes, as long as the answers to their questions. Losing one is no loss. Rejects when the store is unavailable. */
export abstract class VectorStore {
  /** Those of a room that are not over, the newest first, at most so many. */
  abstract newest(room: VectorRoom, most: number): Promise<readonly KeptVector[]>;
  /** In place of that of the same answer. Of a room that has more than `most`, the oldest go. */
  abstract keep(room: VectorRoom, kept: KeptVector, most: number): Promise<void>;
}

/** Counts the tokens of a text, about, and never on the path's own thread. */
export abstract class TokenCounter {
  /** Rejects with `overloaded` or `internal_error`. */
  abstract count(text: string): Promise<number>;
}

export { PriceBook } from '../providers/prices/price-book.js';

export { LimitFault, RETURNED } from './limits/store.js';
export type { AskAnswer, LimitAsk, LimitGrant, LimitReturn, ReturnAnswer } from './limits/store.js';

/**
 * Counts use against limits for all processes. What it grants is leased to this process: taken from the limit before it
 * is used, and given back when it is not.
 *
 * Both calls answer for each counter apart, in order, and reject only when the store is unavailable: it cannot be reached, does
 * not answer in time, or says that it serves nobody now. After a rejection the call may have been done or not.
 */
export abstract class LimitStore {
  /** Where budgets are counted, which may be elsewhere and fails apart from this one. */
  readonly budgets: LimitStore = this;

  /** The name under which this process leases. Its leases end when it is dead and all its records are stored. */
  abstract readonly holder: string;
  /** Takes from each counter. */
  abstract take(asks: readonly LimitAsk[]): Promise<readonly AskAnswer[]>;
  /** Gives back what was leased and not used, and keeps the rest alive. Without returns it only asks whether the store is there. */
  abstract giveBack(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]>;
}
