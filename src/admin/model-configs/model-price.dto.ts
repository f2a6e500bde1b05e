import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Equals, IsObject } from 'class-validator';
import type { Price } from '../../common/contracts/price.js';
import type { ModelPrice } from './model-price.entity.js';
import { IfGiven } from '../../common/http/validators.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { PRICING_CONFIG_SCHEMA, type PricingConfig, pricingConfigOf } from '../dto-fields/model-pricing.js';
import { ApiObject } from '../dto-fields/fields.js';

const KINDS = PRICING_CONFIG_SCHEMA.properties.pay_as_you_go;

export class SetPriceDto {
  @ApiPropertyOptional({ description: 'Kind of the price. Always `static`.', enum: ['static'] })
  @IfGiven()
  @Equals('static')
  readonly type?: string;

  @ApiProperty(KINDS)
  @IsObject()
  readonly pay_as_you_go: Readonly<Record<string, unknown>>;
}

/** A list price. */
export class PricingDto {
  @ApiProperty(KINDS)
  readonly pay_as_you_go: PricingConfig['pay_as_you_go'];

  @ApiProperty({ description: 'Currency of the prices. Always USD; amounts are in cents.', enum: ['USD'] })
  readonly currency: 'USD';

  static from(price: Price): PricingDto {
    return { currency: 'USD', pay_as_you_go: pricingConfigOf(price).pay_as_you_go };
  }
}

/** An organization's price for a model. */
export class ModelPriceDto extends PricingDto {
  @ApiProperty({
    description: 'Id of the provider in the provider catalogue, such as `openai`.',
    example: 'openai',
  })
  readonly provider: string;

  @ApiProperty({ description: 'Id of the model.', example: 'gpt-4o' })
  readonly model: string;

  @ApiObject('model-price')
  readonly object: 'model-price';

  static of({ providerId, model, price }: ModelPrice): ModelPriceDto {
    const { pay_as_you_go } = pricingConfigOf(price);
    return { currency: 'USD', object: 'model-price', pay_as_you_go, provider: providerId, model };
  }
}

export class ModelPriceListDto extends ListOf(ModelPriceDto) {
  static from(rows: readonly ModelPrice[], total: number): ModelPriceListDto {
    return { object: 'list', total, data: rows.map((row) => ModelPriceDto.of(row)) };
  }
}
