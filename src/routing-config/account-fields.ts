/**
 * Account settings besides the key, when a config spells out a provider: the names of the catalogue's fields and account headers, with
 * underscores.
 */
export const ACCOUNT_FIELDS = [
  'amzn_sagemaker_custom_attributes',
  'amzn_sagemaker_enable_explanations',
  'amzn_sagemaker_inference_component',
  'amzn_sagemaker_inference_id',
  'amzn_sagemaker_session_id',
  'amzn_sagemaker_target_container_hostname',
  'amzn_sagemaker_target_model',
  'amzn_sagemaker_target_variant',
  'anthropic_beta',
  'anthropic_version',
  'anthropic_workspace_id',
  'aws_access_key_id',
  'aws_external_id',
  'aws_region',
  'aws_role_arn',
  'azure_api_version',
  'azure_deployment_id',
  'azure_deployment_name',
  'azure_entra_client_id',
  'azure_entra_scope',
  'azure_entra_tenant_id',
  'azure_extra_params',
  'azure_resource_name',
  'byteplus_region',
  'databricks_workspace',
  'fireworks_account_id',
  'meshy_api_version',
  'modal_key',
  'openai_beta',
  'openai_organization',
  'openai_project',
  'oracle_region',
  'portkey_config',
  'portkey_provider',
  'portkey_virtual_key',
  'predibase_deployment',
  'predibase_tenant_id',
  'runway_version',
  'segmind_api_version',
  'snowflake_account',
  'stability_client_id',
  'stability_client_user_id',
  'stability_client_version',
  'vertex_project_id',
  'vertex_region',
  'workers_ai_account_id',
] as const;

/** Secrets that the compatible API names after the provider: each is the provider's key. */
export const ACCOUNT_SECRETS = [
  'aws_secret_access_key',
  'azure_entra_client_secret',
  'vertex_service_account_json',
] as const;

type AccountFieldName = (typeof ACCOUNT_FIELDS)[number] | (typeof ACCOUNT_SECRETS)[number];

export type AccountFields = { readonly [Name in AccountFieldName]?: string };
