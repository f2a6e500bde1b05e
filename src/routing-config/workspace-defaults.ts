import type { ClientDisconnectRule } from '../common/contracts/upstream-rules.js';
import type { CacheRules } from './document.js';

/** A workspace's defaults for its requests, under the names of the API. */
export interface WorkspaceDefaults {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Slugs or ids of stored guardrails. */
  readonly input_guardrails?: readonly string[];
  readonly output_guardrails?: readonly string[];
  /** The response cache for configs and requests without their own setting. */
  readonly user_api_key_config?: string | null;
  /** What happens to an attempt when its client disconnects, unless its config or virtual key has its own rule. */
  readonly cache?: CacheRules | null;
  /** What happens to an attempt when its client disconnects, unless its config or virtual key has its own rule. */
  readonly on_client_disconnect?: ClientDisconnectRule | null;
}

/** As a client sends them: null removes the current value. */
export type GivenDefaults = { readonly [Name in keyof WorkspaceDefaults]: WorkspaceDefaults[Name] | null };
