import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import {
  type Mistake,
  mistakeDetails,
  readRoutingConfig,
  type RoutingConfig,
} from '../../routing-config/routing-config.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { jsonFault } from '../../common/json/json-fault.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { missing, type Reference, referencesIn } from './config-references.js';
import { secretParameters } from './secret-parameters.js';

const MISTAKES_MAX = 100;

/** Where a config is to run; without a workspace, in all of them. */
export interface ConfigScope {
  readonly organizationId: string;
  readonly workspaceId: string | null;
}

/** Checks whether a config would run in a workspace, and reports every problem. */
@Injectable()
export class ConfigChecker {
  constructor(
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    private readonly guardrails: GuardrailReferences,
  ) {}

  /** The document as stored. Refuses with `config_invalid`, which names the path of every mistake. */
  async read(place: ConfigScope, given: unknown): Promise<RoutingConfig> {
    const document = typeof given === 'string' ? parsed(given) : given;
    const read = readRoutingConfig(document);
    const unknown = [
      ...(await this.unknownIn(place, document)),
      ...(read.mistakes ? [] : await this.embeddingsMissing(place, read.config)),
      ...(read.mistakes ? [] : secretParameters(read.config)),
    ];
    if (!read.mistakes && unknown.length === 0) return read.config;
    const mistakes = [...(read.mistakes ?? []), ...unknown];
    throw refused(mistakes);
  }

  private async unknownIn(place: ConfigScope, document: unknown): Promise<Mistake[]> {
    const { virtualKeys, guardrails } = referencesIn(document);
    return [
      ...(await this.keysUnknown(place, virtualKeys)),
      ...(await this.guardrailsUnknown(place, guardrails)),
    ];
  }

  /** A semantic cache needs an embedding model: its own setting, or its workspace's. */
  private async embeddingsMissing(
    { organizationId, workspaceId }: ConfigScope,
    config: RoutingConfig,
  ): Promise<Mistake[]> {
    const paths = withoutEmbedding(config, 'config');
    if (paths.length === 0) return [];
    const workspace = workspaceId && (await this.workspaces.findOneBy({ organizationId, id: workspaceId }));
    if (workspace && workspace.defaults.cache?.embedding) return [];
    const message =
      'is missing, and the workspace has no default: it names the virtual key and the model that compute embeddings';
    return paths.map((path) => ({ path: `${path}.cache.embedding`, message }));
  }

  /** Existing guardrails are locked until the config is saved. */
  private async guardrailsUnknown(place: ConfigScope, references: readonly Reference[]): Promise<Mistake[]> {
    if (references.length === 0) return [];
    const names = [...new Set(references.map(({ slug }) => slug))];
    const unknown = await this.guardrails.missing(place, names);
    return missing(references, new Set(names.filter((name) => !unknown.has(name))), 'guardrail');
  }

  private async keysUnknown(place: ConfigScope, references: readonly Reference[]): Promise<Mistake[]> {
    if (references.length === 0) return [];
    const { organizationId, workspaceId } = place;
    // A virtual key belongs to one workspace, so no virtual key is usable in all of them.
    if (workspaceId === null) return missing(references, new Set());
    const slugs = [...new Set(references.map(({ slug }) => slug))].filter((slug) => !slug.includes('\0'));
    const known = await this.virtualKeys.find({
      where: { organizationId, workspaceId, slug: In(slugs) },
      select: { id: true, slug: true },
      // None of them is deleted until the config is saved.
      lock: { mode: 'pessimistic_read' },
    });
    return missing(references, new Set(known.map(({ slug }) => slug)));
  }
}

/** Paths of semantic caches without an embedding setting. */
function withoutEmbedding({ cache, targets = [] }: RoutingConfig, path: string): string[] {
  const own = cache?.mode === 'semantic' && !cache.embedding ? [path] : [];
  const below = targets.flatMap((target, index) => withoutEmbedding(target, `${path}.targets[${index}]`));
  return [...own, ...below];
}

/** In the compatible API a config may be a text that contains JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refused([{ path: 'config', message: `is a string that is not JSON: ${jsonFault(text)}` }]);
  }
}

function refused(mistakes: readonly Mistake[]): AppError {
  const shown = mistakes.slice(0, MISTAKES_MAX).map(({ path, message }) => `${path} ${message}`);
  return new AppError('config_invalid', mistakeDetails(mistakes, shown.join('; ')));
}
