import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsString, Length } from 'class-validator';
import { IfGiven, OrNull, NestedList } from '../../common/http/validators.js';

const LONGEST_FIELD = 128;

/** A deployment of Azure OpenAI. All models go to the virtual key's deployment. */
class DeploymentDto {
  @ApiProperty({ example: '2024-10-21' })
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly apiVersion: string;

  @ApiProperty({ example: 'gpt-4o-prod' })
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly deploymentName: string;

  @ApiPropertyOptional({ example: 'gpt-4o' })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly alias?: string;

  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly is_default?: boolean;
}

/** An Azure field under its name in the compatible API. */
const IsCompatibleField = (): PropertyDecorator =>
  applyDecorators(ApiHideProperty(), OrNull(), IsString(), Length(1, LONGEST_FIELD));

const IsDeployments = (): PropertyDecorator =>
  applyDecorators(
    ApiHideProperty(),
    IfGiven(),
    IsArray(),
    ArrayMaxSize(1, { message: 'a virtual key has one deployment; create a virtual key for each' }),
    NestedList(() => DeploymentDto),
  );

/** Fields of Azure OpenAI accounts under their names in the compatible API. `fields` has them under the names of the provider catalogue. */
export class AzureFields {
  @IsCompatibleField()
  readonly apiVersion?: string | null;

  @IsCompatibleField()
  readonly api_version?: string | null;

  @IsCompatibleField()
  readonly resourceName?: string | null;

  @IsCompatibleField()
  readonly resource_name?: string | null;

  @IsCompatibleField()
  readonly deploymentName?: string | null;

  @IsCompatibleField()
  readonly deployment_name?: string | null;

  @IsDeployments()
  readonly deploymentConfig?: readonly DeploymentDto[];

  @IsDeployments()
  readonly deployment_config?: readonly DeploymentDto[];
}
