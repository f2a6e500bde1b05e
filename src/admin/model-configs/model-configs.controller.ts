import { Body, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Caller, OpenToEverybody, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { PageQuery } from '../http/page-query.dto.js';
import { priceOf } from '../dto-fields/model-pricing.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { ModelPriceListDto, PricingDto, SetPriceDto } from './model-price.dto.js';
import { ModelPricesService } from './model-prices.service.js';

const ProviderParameter = ApiParam({
  name: 'provider',
  description: 'Id of the provider, such as `openai`.',
});
const ModelParameter = ApiParam({ name: 'model', description: 'Id of the model, percent-encoded.' });

@AdminController('model-configs')
@Refusals()
export class ModelConfigsController {
  constructor(private readonly prices: ModelPricesService) {}

  @Get('pricing')
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'List agreed prices',
    description: 'Returns the agreed prices of the organization.',
  })
  @ApiOkResponse({ type: ModelPriceListDto })
  async list(@Caller() caller: Principal, @Query() query: PageQuery): Promise<ModelPriceListDto> {
    return ModelPriceListDto.from(...(await this.prices.list(caller.organizationId, pageOf(query))));
  }

  @Get('pricing/:provider/:model')
  @OpenToEverybody()
  @ApiOperation({
    summary: 'Read the list price of a model',
    description: 'Returns the list price of a model in US cents, without agreed prices.',
    security: [],
  })
  @ApiOkResponse({ type: PricingDto })
  @ModelParameter
  @ProviderParameter
  async read(@Param('provider') provider: string, @Param('model') model: string): Promise<PricingDto> {
    return PricingDto.from(this.prices.listPrice(provider, model));
  }

  @Put('pricing/:provider/:model')
  @RequireScope('organisation_settings.update', 'administrators')
  @ApiOperation({
    summary: 'Set the agreed price of a model',
    description: 'Requests that arrive from now on are charged by this price. Past costs do not change.',
  })
  @ApiOkResponse({ type: DoneDto })
  @ModelParameter
  @ProviderParameter
  async set(
    @Caller() { organizationId }: Principal,
    @Param('provider') providerId: string,
    @Param('model') model: string,
    @Body() dto: SetPriceDto,
  ): Promise<DoneDto> {
    await this.prices.set(
      { organizationId, providerId, model },
      priceOf({ pay_as_you_go: dto.pay_as_you_go }),
    );
    return EMPTY_RESPONSE;
  }

  @Delete('pricing/:provider/:model')
  @RequireScope('organisation_settings.update', 'administrators')
  @ApiOperation({
    summary: 'Remove the agreed price of a model',
    description: 'Removes the agreed price. Requests that arrive from now on are charged by the list price.',
  })
  @ApiOkResponse({ type: DoneDto })
  @ModelParameter
  @ProviderParameter
  async remove(
    @Caller() { organizationId }: Principal,
    @Param('provider') providerId: string,
    @Param('model') model: string,
  ): Promise<DoneDto> {
    await this.prices.remove({ organizationId, providerId, model });
    return EMPTY_RESPONSE;
  }
}
