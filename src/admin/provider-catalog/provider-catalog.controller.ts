import { Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { ForEveryCaller } from '../../auth/permissions/access.decorators.js';
import { providers } from '../../providers/catalog/registry.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { CatalogProviderListDto } from './provider-catalog.dto.js';

/** The providers that virtual keys can use. */
@AdminController('provider-catalog', 'integrations')
@Refusals()
export class ProviderCatalogController {
  @Get()
  @ForEveryCaller()
  @ApiOperation({
    summary: 'List the provider catalogue',
    description: 'Returns every provider in the catalogue, with the settings that an account needs.',
  })
  @ApiOkResponse({ type: CatalogProviderListDto })
  list(): CatalogProviderListDto {
    const byName = [...providers.values()].sort((one, other) => one.name.localeCompare(other.name, 'en'));
    return CatalogProviderListDto.from(byName);
  }
}
