import { Injectable } from '@nestjs/common';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../auth/principal.js';
import { type Reach, reachOf } from '../../auth/tenant.js';
import { mistakeDetails, readRoutingConfig } from '../../routing-config/routing-config.js';
import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { jsonFault } from '../../common/json/json-fault.js';
import { ConfigDirectory, type ConfigSnapshot } from '../ports.js';
import { type CompiledConfig, NO_CONFIG } from '../types/plan.js';
import { planFromConfig } from './plan-from-config.js';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import type { GatewayHeaders } from '../types/gateway-headers.js';

const HEADER = 'x-gateway-config';

/** Maximum total text of the documents whose plans are cached. */
const REMEMBERED_BYTES_MAX = 8 * 1024 * 1024;

/** Finds the plan of a request: from the config that it names or contains, or else its key's default. */
@Injectable()
export class ConfigPlans {
  /** By version of a saved config. The directory limits their number. */
  private readonly saved = new WeakMap<ConfigSnapshot, CompiledConfig>();
  /** By tenant and text. */
  private readonly sent = new LRUCache<string, CompiledConfig>({
    maxSize: REMEMBERED_BYTES_MAX,
    sizeCalculation: (_plan, key) => key.length,
  });

  constructor(private readonly configs: ConfigDirectory) {}

  /**
   * `NO_CONFIG` if only the request's own headers apply. Returns without a promise when the config is in memory. Rejects with
   * `header_invalid`, `config_invalid`, `not_found` (config) and `auth_unavailable`.
   */
  find(caller: Principal, sent: string | null): CompiledConfig | Promise<CompiledConfig> {
    const { routing } = caller;
    if (sent === null) return routing?.configId ? this.ofKey(caller, routing.configId) : NO_CONFIG;
    if (routing?.allowsOverride === false)
      throw new AppError('header_invalid', {
        header: HEADER,
        detail: 'this API key can use only its own config',
      });
    return sent.startsWith('{') ? this.inline(caller, sent) : this.named(reachOf(caller), sent);
  }

  /** The default may be in another workspace, if an organization keeps it there. */
  private ofKey({ organizationId }: Principal, id: string): CompiledConfig | Promise<CompiledConfig> {
    return this.named({ organizationId }, id);
  }

  private named(reach: Reach, name: string): CompiledConfig | Promise<CompiledConfig> {
    return mapMaybePromise(this.configs.find(reach, name), (config) =>
      config ? this.compiled(config) : this.unknown(reach, name),
    );
  }

  /** Suggests the nearest slug within reach, and nothing else, so the error does not reveal what other workspaces have. */
  private async unknown(reach: Reach, name: string): Promise<never> {
    // Without the store, the plain error is still right.
    const slugs = await this.configs.slugs(reach).catch(() => []);
    throw new AppError('not_found', { resource: `config "${name}"${didYouMean(name, slugs)}` });
  }

  private compiled(config: ConfigSnapshot): CompiledConfig {
    const known = this.saved.get(config);
    if (known) return known;
    const { id, slug, versionId } = config;
    const plan = planFromConfig(config.document, { id, slug, versionId });
    this.saved.set(config, plan);
    return plan;
  }

  /** One plan per workspace: circuit breakers and loads are kept per plan, and tenants never share them. */
  private inline({ organizationId, workspaceId }: Principal, text: string): CompiledConfig {
    const key = `${organizationId} ${workspaceId ?? ''} ${text}`;
    const known = this.sent.get(key);
    if (known) return known;
    const read = readRoutingConfig(parsed(text), 'sent');
    if (read.mistakes) throw new AppError('config_invalid', mistakeDetails(read.mistakes));
    const plan = planFromConfig(read.config, null);
    this.sent.set(key, plan);
    return plan;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('header_invalid', {
      header: HEADER,
      detail: `it is not valid JSON: ${jsonFault(text)}`,
    });
  }
}

/** Endpoints that store objects in one account. Their ids are unknown to another account. */
const OF_ONE_ACCOUNT: ReadonlySet<EndpointId> = new Set(['batches', 'files', 'fine-tuning', 'vector-stores']);

/** Refuses a config with several targets for an endpoint whose objects only one of them would have. */
export function checkTargets({ targetCount }: CompiledConfig, endpoint: Endpoint | null): void {
  if (targetCount <= 1 || !endpoint || !OF_ONE_ACCOUNT.has(endpoint.id)) return;
  throw new AppError('config_invalid', {
    detail: `${endpoint.title} belong to one account, so the config must have exactly one target, not ${targetCount}`,
  });
}

const LONGEST_SLUG = 65;

/**
 * Refuses a request that names a virtual key which its config does not use: the key, its limits and its budget would be ignored silently. A
 * config with an open target uses the request's key.
 */
export function checkNamedKey({ namedKeys }: CompiledConfig, { virtualKey, provider }: GatewayHeaders): void {
  if (namedKeys === null) return;
  const named = virtualKey ?? (provider?.startsWith('@') ? provider : null);
  if (named === null || namedKeys.has(named.replace(/^@/, ''))) return;
  throw new AppError('invalid_request', {
    detail: `The request names the virtual key "${named.slice(0, LONGEST_SLUG)}", but no target of its config uses it. Remove the header, or name the virtual key in the config.`,
  });
}
