import type { Reach } from '../auth/tenant.js';
import type { ClientDisconnectRule, UnsupportedParameterRule } from '../common/contracts/upstream-rules.js';
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
import type { AllowedModels, OwnPrices } from './types/target.js';

/**
 * Everything that the data plane needs from outside.
 *
 * Each class is both the type and the injection token. src/adapters binds them to PostgreSQL and the spool; tests bind them to plain
 * objects. Code in src/gateway must not depend on which.
 */

/** A decrypted virtual key: the credentials are in plain text and live only in memory. */
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
  /** Absent when list prices apply. */
  readonly prices?: OwnPrices;
  /** Absent when the key has no limits. */
  readonly limits?: readonly Limit[];
  /** Absent if the workspace decides. */
  readonly onClientDisconnect?: ClientDisconnectRule;
  /** Absent if unsupported parameters are refused. */
  readonly unsupportedParameters?: UnsupportedParameterRule;
}

export abstract class VirtualKeyDirectory {
  /**
   * The virtual key of that slug within reach, or null. Returns without a promise when it is in memory. Rejects with `auth_unavailable`
   * when the store is unavailable, with `credential_unusable` when the key cannot be decrypted, and with `secret_unavailable`,
   * `secret_unusable` or `workload_identity_refused` when a secret reference of it has no value.
   */
  abstract find(reach: Reach, slug: string): VirtualKeySnapshot | null | Promise<VirtualKeySnapshot | null>;

  /** The provider refused the credential of this virtual key. Never waits: a value from a secret manager is read again early. */
  abstract credentialRefused(id: string): void;
}

/** A virtual key for the list of models: without its credential. */
export interface UsableKey extends Pick<VirtualKeySnapshot, 'slug' | 'providerId' | 'models'> {
  /** Milliseconds since the epoch, or null. */
  readonly expiresAt: number | null;
}

/** The virtual keys and providers that a caller may use. */
export abstract class UsableKeys {
  /**
   * The keys within reach: one of each provider and integration by slug, then the others, at most a thousand. Returns the same list as long
   * as nothing changes, and without a promise when it is in memory. Rejects with `auth_unavailable` when the store is unavailable.
   */
  abstract find(reach: Reach): readonly UsableKey[] | Promise<readonly UsableKey[]>;
}

/** A stored guardrail with decrypted secrets. */
export interface GuardrailSnapshot {
  readonly id: string;
  readonly spec: HookSpec;
}

export abstract class GuardrailDirectory {
  /**
   * The guardrail of that slug or id within reach, or null. Returns without a promise when it is in memory. Rejects with `auth_unavailable`
   * when the store is unavailable, with `credential_unusable` when the guardrail cannot be decrypted.
   */
  abstract find(reach: Reach, slug: string): GuardrailSnapshot | null | Promise<GuardrailSnapshot | null>;
}

/** The active version of a saved config. The same object as long as that version is active. */
export interface ConfigSnapshot {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly document: RoutingConfig;
}

export abstract class ConfigDirectory {
  /**
   * The config of that slug or id within reach, or null. Returns without a promise when it is in memory. The last valid version stays in
   * use while the store is unavailable or has one that cannot be parsed. Rejects with `auth_unavailable` when the store is unavailable and
   * no version is known.
   */
  abstract find(reach: Reach, name: string): ConfigSnapshot | null | Promise<ConfigSnapshot | null>;
  /** Slugs within reach for a suggestion in an error: at most a thousand, and some seconds old. Rejects when the store is unavailable. */
  abstract slugs(reach: Reach): Promise<readonly string[]>;
}

/** Notifies the gateway processes of all instances of targets that are out of service. A hint: each process detects outages itself, too. */
export abstract class OutageNews {
  /** Never throws and never waits. */
  abstract tell(target: string, cooldownMs: number): void;
  /** Calls back for outages that other processes report. */
  abstract subscribe(listener: (target: string, cooldownMs: number) => void): void;
}

/** Writes the records of exchanges. Never throws and never makes a client wait for a disk flush. */
export abstract class LogSink {
  /** Appends the beginning of an exchange. Returns the text that was written, which `close` repeats. */
  abstract open(exchange: OpenedExchange): string | null;
  /**
   * Appends the attempts so far of a running exchange, as they are recorded if the process dies now. `opened` is the result of `open`;
   * nothing is written if that failed.
   */
  abstract update(exchange: OpenedExchange, attempts: readonly AttemptRecord[], opened: string | null): void;
  /** Appends how the exchange ended. `opened` is the result of `open`, if it was called. */
  abstract close(record: RequestLogRecord, bodies: CapturedBodies, opened?: string | null): void;
  /** False when disk and reserve are full: records appended now would be lost. */
  abstract get hasSpace(): boolean;
  /** Calls back, within this turn of the event loop, once everything appended would survive a kill of the process. */
  abstract whenWritten(then: () => void): void;
}

/** The key of a cached response. No two workspaces share one. */
export interface CachedResponseKey {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Digest of the request, 64 hexadecimal digits; the tenant is part of it, too. */
  readonly key: string;
}

/** Caches responses of providers for all processes, for a limited time. Losing one does no harm. Rejects when the store is unavailable. */
export abstract class AnswerStore {
  /** The stored response, unless it has expired; null otherwise. */
  abstract find(place: CachedResponseKey): Promise<Buffer | null>;
  /** Replaces the stored response. `expiresAt` is in milliseconds since the epoch. */
  abstract keep(place: CachedResponseKey, answer: Buffer, expiresAt: number): Promise<void>;
}

/** The namespace of the vectors that are compared with each other. No two workspaces share one. */
export interface VectorNamespace {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Digest of all that requests of this namespace have in common, 64 hexadecimal digits; the tenant is part of it, too. */
  readonly digest: string;
}

/** The vector of a request with a cached response. */
export interface KeptVector {
  /** Of the response: `CachedResponseKey.key`. */
  readonly key: string;
  readonly vector: Buffer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Stores vectors for all processes, as long as the responses to their requests. Losing one does no harm. Rejects when the store is
 * unavailable.
 */
export abstract class VectorStore {
  /** The unexpired vectors of a namespace, newest first, at most `most`. */
  abstract newest(namespace: VectorNamespace, most: number): Promise<readonly KeptVector[]>;
  /** Replaces the vector of the same response. If a namespace has more than `most`, the oldest are removed. */
  abstract keep(namespace: VectorNamespace, kept: KeptVector, most: number): Promise<void>;
}

/** Counts the tokens of a text approximately, and never on the main thread. */
export abstract class TokenCounter {
  /** Rejects with `overloaded` or `internal_error`. */
  abstract count(text: string): Promise<number>;
}

export { PriceBook } from '../providers/prices/price-book.js';

export { LimitFault, LimitStore, RETURNED } from './limits/store.js';
export type { AskAnswer, LimitAsk, LimitGrant, LimitReturn, ReturnAnswer } from './limits/store.js';
