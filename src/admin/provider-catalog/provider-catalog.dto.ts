import { ApiProperty } from '@nestjs/swagger';
import type { AccountField, Provider } from '../../providers/provider.js';
import { ApiTextOrNull } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';

/** An account setting of a provider besides its key. */
export class CatalogFieldDto {
  /** Its name in `fields` of a virtual key. */
  @ApiProperty({ example: 'azure-resource-name' })
  readonly name: string;

  @ApiProperty({ example: 'Azure resource' })
  readonly title: string;

  @ApiProperty({ example: true })
  readonly is_required: boolean;

  @ApiProperty({ type: String, nullable: true, example: 'acme-sweden' })
  readonly example: string | null;

  /** Default value. */
  @ApiTextOrNull()
  readonly default: string | null;

  /** It is part of the provider's address, and not needed with a custom host. */
  @ApiProperty({ example: true })
  readonly is_in_address: boolean;

  static from(field: AccountField, { baseUrl }: Provider): CatalogFieldDto {
    const { name, title, isRequired, example } = field;
    return Object.assign(new CatalogFieldDto(), {
      name,
      title,
      is_required: isRequired,
      example,
      default: field.default ?? null,
      is_in_address: baseUrl?.includes(`{${name}}`) ?? false,
    });
  }
}

export class CatalogProviderDto {
  @ApiProperty({ example: 'azure-openai' })
  readonly id: string;

  @ApiProperty({ example: 'Azure OpenAI' })
  readonly name: string;

  /** `required`: its credential goes into the field `key`. `none`: it needs none. */
  @ApiProperty({ enum: ['required', 'none'] })
  readonly key: 'required' | 'none';

  /** `required`: it has no address of its own. `none`: its address is built in. */
  @ApiProperty({ enum: ['required', 'optional', 'none'], example: 'optional' })
  readonly custom_host: 'required' | 'optional' | 'none';

  @ApiProperty({ type: [CatalogFieldDto] })
  readonly fields: readonly CatalogFieldDto[];

  /** Whether a test can verify a credential. */
  @ApiProperty({ example: true })
  readonly is_testable: boolean;

  /** URL of the provider's API documentation. */
  @ApiProperty({ example: 'https://learn.microsoft.com/azure/ai-services/openai/reference' })
  readonly documentation_url: string;

  @ApiProperty({ enum: ['provider-catalog-entry'] })
  readonly object = 'provider-catalog-entry';

  static from(provider: Provider): CatalogProviderDto {
    const { id, name, auth, baseUrl, inProcess, fields = [], source } = provider;
    return Object.assign(new CatalogProviderDto(), {
      id,
      name,
      key: auth.id === 'none' ? 'none' : 'required',
      custom_host: inProcess ? 'none' : baseUrl === null ? 'required' : 'optional',
      fields: fields.map((field) => CatalogFieldDto.from(field, provider)),
      is_testable: auth.signer === undefined,
      documentation_url: source,
    });
  }
}

export class CatalogProviderListDto extends ListOf(CatalogProviderDto) {
  static from(providers: readonly Provider[]): CatalogProviderListDto {
    const data = providers.map((provider) => CatalogProviderDto.from(provider));
    return Object.assign(new CatalogProviderListDto(), { total: data.length, data });
  }
}
