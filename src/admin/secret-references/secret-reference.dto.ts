import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsString,
  IsUUID,
  Length,
  Matches,
} from 'class-validator';
import { IfGiven, IsMetadata, OrNull, UUID_OR_SLUG } from '../../common/http/validators.js';
import {
  MANAGER_TYPES,
  type ManagerType,
  modeOf,
} from '../../external-credentials/secret-managers/manager-table.js';
import {
  ApiId,
  ApiIdOrNull,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiObject,
  ApiTextOrNull,
  MayTakeName,
  MayTakeNote,
  MayTakeSlug,
  TakesName,
} from '../dto-fields/fields.js';
import { Audited } from '../dto-fields/audited.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { SecretReference } from './secret-reference.entity.js';

const LONGEST_PATH = 1024;
const LONGEST_KEY = 255;
const MOST_WORKSPACES = 1_000;
const MASK = '***';
const ITS_KEY =
  "Member of the secret's JSON object to use. Null: the whole secret, or the only text of its object. Default: null.";
const ITS_MANAGER =
  "Secret manager: `hashicorp_vault` (also OpenBao), `aws_sm`, `gcp_sm`, `azure_kv`, or `file` for files of the gateway's machine.";
const ITS_AUTH =
  'How the gateway signs in to the secret manager: the fields of one mode in docs/secret-references.md. Secret fields are stored encrypted and shown as `***`. A change replaces all of them.';
const ITS_PATH =
  'Where the secret is, in the notation of its secret manager, such as `secret/openai` in Vault.';
const ALL_WORKSPACES = 'Whether virtual keys of every workspace may use it. Default: true.';
const SOME_WORKSPACES =
  'Ids or slugs of the workspaces that may use it, with `allow_all_workspaces` false. Null in a response: all of them.';
const ITS_TAGS = 'Labels of your own, as short texts by name. Null: none. Default: null.';
const ITS_NAME = 'Name of the secret reference.';
const ITS_SLUG = 'Short name, unique in the organization.';
const AN_AUTH = {
  vault_auth_type: 'approle',
  vault_addr: 'https://vault.example.com:8200',
  vault_role_id: '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8',
  vault_secret_id: '84896a0c-1347-aa90-a4f6-aca8b7558780',
};

/** Fields of a reference that can be set on creation and changed later. */
class SecretReferenceFields {
  @MayTakeNote('Rotated every 30 days')
  readonly description?: string | null;

  @ApiPropertyOptional({
    description: ITS_KEY,
    type: String,
    nullable: true,
    maxLength: LONGEST_KEY,
    example: 'api_key',
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_KEY)
  readonly secret_key?: string | null;

  @ApiPropertyOptional({ description: ALL_WORKSPACES, default: true, example: false })
  @IfGiven()
  @IsBoolean()
  @Audited()
  readonly allow_all_workspaces?: boolean;

  @ApiPropertyOptional({
    description: SOME_WORKSPACES,
    type: [String],
    minItems: 1,
    maxItems: MOST_WORKSPACES,
    example: ['ws-default'],
  })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_WORKSPACES)
  @Matches(UUID_OR_SLUG, { each: true, message: 'each must be the id or slug of a workspace' })
  readonly allowed_workspaces?: readonly string[];

  @ApiPropertyOptional({
    description: ITS_TAGS,
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'string' },
    example: { team: 'search' },
  })
  @OrNull()
  @IsMetadata()
  readonly tags?: Readonly<Record<string, string>> | null;
}

export class CreateSecretReferenceDto extends SecretReferenceFields {
  @TakesName('OpenAI key of production')
  readonly name: string;

  /** Default: made from the name. Unique in the organization. */
  @MayTakeSlug('openai-key')
  readonly slug?: string;

  @ApiProperty({
    description: ITS_MANAGER,
    enum: [...MANAGER_TYPES],
    enumName: 'SecretManagerType',
    example: 'hashicorp_vault',
  })
  @IsIn(MANAGER_TYPES)
  @Audited()
  readonly manager_type: ManagerType;

  @ApiProperty({
    description: ITS_AUTH,
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    example: AN_AUTH,
  })
  @IsObject()
  readonly auth_config: Readonly<Record<string, unknown>>;

  @ApiProperty({ description: ITS_PATH, minLength: 1, maxLength: LONGEST_PATH, example: 'secret/openai' })
  @IsString()
  @Length(1, LONGEST_PATH)
  readonly secret_path: string;

  /** The caller's own, for clients that send it. */
  @ApiPropertyOptional({ description: 'Id of your organization, for clients that send it.', format: 'uuid' })
  @IfGiven()
  @IsUUID()
  readonly organisation_id?: string;
}

export class UpdateSecretReferenceDto extends SecretReferenceFields {
  @MayTakeName('OpenAI key of production')
  readonly name?: string;

  /** Replaces all of its fields, secret ones included. */
  @ApiPropertyOptional({
    description: ITS_AUTH,
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    example: AN_AUTH,
  })
  @IfGiven()
  @IsObject()
  readonly auth_config?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({
    description: ITS_PATH,
    minLength: 1,
    maxLength: LONGEST_PATH,
    example: 'secret/openai',
  })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_PATH)
  readonly secret_path?: string;
}

export class CreatedSecretReferenceDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: ITS_SLUG, example: 'openai-key' })
  readonly slug: string;

  @ApiObject('secret-reference')
  readonly object: 'secret-reference';

  static from({ id, slug }: SecretReference): CreatedSecretReferenceDto {
    return { id, slug, object: 'secret-reference' };
  }
}

export class SecretReferenceDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: ITS_NAME, example: 'OpenAI key of production' })
  readonly name: string;

  @ApiProperty({ description: ITS_SLUG, example: 'openai-key' })
  readonly slug: string;

  @ApiProperty({
    description: ITS_MANAGER,
    enum: [...MANAGER_TYPES],
    enumName: 'SecretManagerType',
    example: 'hashicorp_vault',
  })
  readonly manager_type: ManagerType;

  @ApiProperty({ description: 'State of the reference. Always `ACTIVE`.', enum: ['ACTIVE'] })
  readonly status: 'ACTIVE';

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('secret-reference')
  readonly object: 'secret-reference';

  static from(row: SecretReference): SecretReferenceDto {
    return summaryOf(row);
  }
}

export class SecretReferenceDetailDto extends SecretReferenceDto {
  @ApiId('Id of its organization.')
  readonly organisation_id: string;

  @ApiTextOrNull('Note of your own. Null: none.')
  readonly description: string | null;

  /** Secret fields are masked. */
  @ApiProperty({
    description: ITS_AUTH,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { vault_auth_type: 'approle', vault_secret_id: MASK },
  })
  readonly auth_config: Readonly<Record<string, string>>;

  @ApiProperty({ description: ITS_PATH, example: 'secret/openai' })
  readonly secret_path: string;

  @ApiTextOrNull(ITS_KEY)
  readonly secret_key: string | null;

  @ApiProperty({ description: ALL_WORKSPACES })
  readonly allow_all_workspaces: boolean;

  @ApiProperty({ description: SOME_WORKSPACES, type: [String], nullable: true, example: null })
  readonly allowed_workspaces: readonly string[] | null;

  @ApiProperty({
    description: ITS_TAGS,
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'string' },
    example: null,
  })
  readonly tags: Readonly<Record<string, string>> | null;

  @ApiIdOrNull('Id of the user or API key that created it.')
  readonly created_by: string | null;

  static override from(row: SecretReference): SecretReferenceDetailDto {
    return {
      ...summaryOf(row),
      organisation_id: row.organizationId,
      description: row.description,
      auth_config: shownAuth(row),
      secret_path: row.secretPath,
      secret_key: row.secretKey,
      allow_all_workspaces: row.allowedWorkspaceIds === null,
      allowed_workspaces: row.allowedWorkspaceIds,
      tags: row.tags,
      created_by: row.createdBy,
    };
  }
}

function summaryOf(row: SecretReference) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    manager_type: row.managerType,
    status: 'ACTIVE',
    object: 'secret-reference',
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.updatedAt.toISOString(),
  } as const;
}

function shownAuth({ managerType, auth }: SecretReference): Record<string, string> {
  const secrets = (modeOf(managerType, auth)?.fields ?? []).filter(({ isSecret }) => isSecret);
  return { ...auth, ...Object.fromEntries(secrets.map(({ name }) => [name, MASK])) };
}

export class SecretReferenceListDto extends ListOf(SecretReferenceDto) {
  static from(rows: readonly SecretReference[], total: number): SecretReferenceListDto {
    return {
      object: 'list',
      total,
      data: rows.map((row) => SecretReferenceDto.from(row)),
    };
  }
}
