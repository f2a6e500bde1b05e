import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import { explainRouting } from '../../routing-config/explain.js';
import type { Config } from './config.entity.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { ConfigChecker, type ConfigScope } from './config-checker.service.js';
import { ConfigVersionsService } from './config-versions.service.js';
import { requestOf, type SimulateConfigDto, SimulationDto } from './simulation.dto.js';
import { TokenPricesService } from './token-prices.service.js';

interface SimulationInput {
  readonly place: ConfigScope;
  readonly document: RoutingConfig;
  /** Null for a document from the request. */
  readonly saved: Config | null;
}

/** Shows where a request would go with a config, and why. Nothing is sent or changed. */
@Injectable()
export class SimulationService {
  constructor(
    private readonly versions: ConfigVersionsService,
    private readonly checker: ConfigChecker,
    private readonly prices: TokenPricesService,
    private readonly workspaces: WorkspaceFinder,
    private readonly audit: AuditTrail,
  ) {}

  /** Refuses with `not_found` for a config that the caller cannot access, `config_invalid` for a document that would not run. */
  async simulate(caller: Principal, dto: SimulateConfigDto): Promise<SimulationDto> {
    this.audit.leaveOut();
    const { place, document, saved } = await this.configOf(caller, dto);
    const request = requestOf(dto);
    // The first pass finds the targets, the second one has their prices.
    const { targets } = explainRouting(document, request);
    const slugs = targets.flatMap(({ virtual_key }) => virtual_key ?? []);
    const prices = await this.prices.of(place, slugs);
    return SimulationDto.of(explainRouting(document, request, prices), saved);
  }

  private async configOf(
    caller: Principal,
    { config, workspace_id }: SimulateConfigDto,
  ): Promise<SimulationInput> {
    if (typeof config === 'string' && !config.trimStart().startsWith('{')) {
      const { config: saved, version } = await this.versions.find(reachOf(caller), config);
      return { place: saved, document: version.document, saved };
    }
    const place = await this.workspaces.tenantFor(caller, workspace_id);
    return { place, document: await this.checker.read(place, config), saved: null };
  }
}
