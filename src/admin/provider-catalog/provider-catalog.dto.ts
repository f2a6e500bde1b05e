import { ApiProperty } from '@nestjs/swagger';
import type { AccountField, Provider } from '../../providers/provider.js';
import { ApiTextOrNull, ApiObject } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';

/** An account setting of a provider besides its key. */
export class CatalogFieldDto {
  @ApiProperty({
    description: 'Name of the setting in `fields` of a virtual key.',
    example: 'azure-resource-name',
  })
  readonly name: string;

  @ApiProperty({ description: 'Display name of the setting.', example: 'Azure resource' })
  readonly title: string;

  @ApiProperty({ description: 'Whether an account needs the setting.', example: true })
  readonly is_required: boolean;

  @ApiProperty({
    description: 'An example of a value. Null if there is none.',
    type: String,
    nullable: true,
    example: 'acme-sweden',
  })
  readonly example: string | null;

  @ApiTextOrNull('Value when the setting is left out. Null if there is none.')
  readonly default: string | null;

  @ApiProperty({
    description:
      "Whether the setting is part of the provider's address. With a custom host it is not needed.",
    example: true,
  })
  readonly is_in_address: boolean;

  static from(field: AccountField, { baseUrl }: Provider): CatalogFieldDto {
    const { name, title, isRequired, example } = field;
    return {
      name,
      title,
      is_required: isRequired,
      example,
      default: field.default ?? null,
      is_in_address: baseUrl?.includes(`{${name}}`) ?? false,
    };
  }
}

export class CatalogProviderDto {
  @ApiProperty({ description: 'Id of the provider.', example: 'azure-openai' })
  readonly id: string;

  @ApiProperty({ description: 'Name of the provider.', example: 'Azure OpenAI' })
  readonly name: string;

  @ApiProperty({
    description: '`required`: a virtual key of this provider needs a credential. `none`: it takes none.',
    enum: ['required', 'none'],
  })
  readonly key: 'required' | 'none';

  @ApiProperty({
    description:
      '`required`: the provider has no address of its own. `optional`: another one may replace it. `none`: it cannot be replaced.',
    enum: ['required', 'optional', 'none'],
    example: 'optional',
  })
  readonly custom_host: 'required' | 'optional' | 'none';

  @ApiProperty({ description: 'Further settings of an account of this provider.', type: [CatalogFieldDto] })
  readonly fields: readonly CatalogFieldDto[];

  @ApiProperty({ description: 'Whether a credential of this provider can be tested.', example: true })
  readonly is_testable: boolean;

  @ApiProperty({
    description: "Page of the provider's own API documentation.",
    example: 'https://learn.microsoft.com/azure/ai-services/openai/reference',
  })
  readonly documentation_url: string;

  @ApiObject('provider-catalog-entry')
  readonly object: 'provider-catalog-entry';

  static from(provider: Provider): CatalogProviderDto {
    const { id, name, auth, baseUrl, inProcess, fields = [], source } = provider;
    return {
      object: 'provider-catalog-entry',
      id,
      name,
      key: auth.id === 'none' ? 'none' : 'required',
      custom_host: inProcess ? 'none' : baseUrl === null ? 'required' : 'optional',
      fields: fields.map((field) => CatalogFieldDto.from(field, provider)),
      is_testable: auth.signer === undefined,
      documentation_url: source,
    };
  }
}

export class CatalogProviderListDto extends ListOf(CatalogProviderDto) {
  static from(providers: readonly Provider[]): CatalogProviderListDto {
    const data = providers.map((provider) => CatalogProviderDto.from(provider));
    return { object: 'list', total: data.length, data };
  }
}
