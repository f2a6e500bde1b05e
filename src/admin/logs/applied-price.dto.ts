import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { AppliedPrice, ImagePrice, PriceTier, Rates, UnitPrices } from '../../common/contracts/price.js';

const NANO = 1e9;

type Dollars = Readonly<Record<string, number>>;

const DOLLARS = { type: Object, additionalProperties: { type: 'number' } };
const EXAMPLE = { input: 0.15, output: 0.6, cached_input: 0.075 };

class PriceTierDto {
  @ApiProperty({
    description: 'Number of input tokens above which this price applies.',
    type: 'integer',
    example: 200_000,
  })
  readonly above_input_tokens: number;
  @ApiProperty({
    description:
      'US dollars for a million tokens, by kind of token. A kind that is missing costs as much as the kind of which it is part.',
    ...DOLLARS,
    example: EXAMPLE,
  })
  readonly usd_per_million_tokens: Dollars;

  static from({ aboveInputTokens, rates }: PriceTier): PriceTierDto {
    return { above_input_tokens: aboveInputTokens, usd_per_million_tokens: dollarsOf(rates) };
  }
}

class AppliedImagePriceDto {
  @ApiProperty({
    description: 'Size of the image. Null: every size.',
    type: String,
    nullable: true,
    example: '1024x1024',
  })
  readonly size: string | null;
  @ApiProperty({
    description: 'Quality of the image. Null: every quality.',
    type: String,
    nullable: true,
    example: 'hd',
  })
  readonly quality: string | null;
  @ApiProperty({ description: 'US dollars for an image.', example: 0.08 }) readonly usd: number;

  static from({ size, quality, amount }: ImagePrice): AppliedImagePriceDto {
    return { size, quality, usd: amount / NANO };
  }
}

/** The price that an attempt was charged at, as of that time. */
export class AppliedPriceDto {
  @ApiProperty({
    description:
      '`list`: the list price. `agreed`: a price set for the virtual key, integration or organization.',
    enum: ['list', 'agreed'],
  })
  readonly source: AppliedPrice['source'];
  @ApiProperty({
    description: "Id of the model, as its provider's documentation writes it.",
    example: 'gpt-4o-mini',
  })
  readonly model: string;
  @ApiProperty({
    description:
      'US dollars for a million tokens, by kind of token. A kind that is missing costs as much as the kind of which it is part.',
    ...DOLLARS,
    example: EXAMPLE,
  })
  readonly usd_per_million_tokens: Dollars;
  @ApiPropertyOptional({ description: 'Prices of long requests.', type: [PriceTierDto] })
  readonly tiers?: readonly PriceTierDto[];
  @ApiPropertyOptional({
    description: 'US dollars for units other than tokens.',
    ...DOLLARS,
    example: { thousand_web_searches: 10 },
  })
  readonly units?: Dollars;
  @ApiPropertyOptional({ description: 'US dollars for generated images.', type: [AppliedImagePriceDto] })
  readonly images?: readonly AppliedImagePriceDto[];
  @ApiPropertyOptional({ description: 'Minimum charged audio length in seconds.', type: Number, example: 10 })
  readonly least_audio_seconds?: number;

  static from(price: AppliedPrice): AppliedPriceDto {
    const {
      source,
      model,
      tiers,
      units: { images, ...units } = {},
      isByUnitOnly,
      leastAudioInputMs,
      ...rates
    } = price;
    return {
      source,
      model,
      usd_per_million_tokens: isByUnitOnly ? {} : dollarsOf(rates),
      ...(tiers && { tiers: tiers.map((tier) => PriceTierDto.from(tier)) }),
      ...(Object.keys(units).length > 0 && { units: dollarsOf(units) }),
      ...(images && { images: images.map((image) => AppliedImagePriceDto.from(image)) }),
      ...(leastAudioInputMs && { least_audio_seconds: leastAudioInputMs / 1000 }),
    };
  }
}

/** `cacheWrite1h` becomes `cache_write_1h`. */
const wireName = (name: string): string => name.replace(/[A-Z]|\d+/g, (found) => `_${found.toLowerCase()}`);

function dollarsOf(nano: Partial<Rates> | Omit<UnitPrices, 'images'>): Dollars {
  const named = Object.entries(nano).filter((entry): entry is [string, number] => entry[1] !== null);
  return Object.fromEntries(named.map(([name, amount]) => [wireName(name), amount / NANO]));
}
