import { workersAi } from '../dialects/workers-ai/index.js';
import type { Provider } from '../provider.js';
import { compatible, HOST_LABEL, optional, PATH_SEGMENT, required } from './compatible.js';

/** Clouds and data platforms that serve models among other services. */
export const cloudPlatforms: readonly Provider[] = [
  compatible({
    id: 'databricks',
    name: 'Databricks',
    // Workspaces on Azure and Google Cloud have other hosts, which need a custom host.
    baseUrl: 'https://{databricks-workspace}.cloud.databricks.com/serving-endpoints',
    endpoints: ['chat-completions', 'completions', 'embeddings', 'responses'],
    fields: [
      required({
        name: 'databricks-workspace',
        title: 'Databricks workspace',
        pattern: HOST_LABEL,
        example: 'dbc-a1b2c3d4-e5f6',
      }),
    ],
    pricesId: null,
    source: 'https://docs.databricks.com/en/machine-learning/foundation-models/query-foundation-model-apis',
  }),
  compatible({
    id: 'cortex',
    name: 'Snowflake Cortex',
    baseUrl: 'https://{snowflake-account}.snowflakecomputing.com/api/v2/cortex/v1',
    fields: [
      required({
        name: 'snowflake-account',
        title: 'Snowflake account, with dashes for underscores',
        pattern: HOST_LABEL,
        example: 'myorg-myaccount',
      }),
    ],
    pricesId: null,
    source: 'https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api',
  }),
  compatible({
    id: 'workers-ai',
    name: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{workers-ai-account-id}/ai/v1',
    dialect: workersAi,
    endpoints: ['chat-completions', 'embeddings'],
    fields: [
      required({
        name: 'workers-ai-account-id',
        title: 'Cloudflare account',
        pattern: PATH_SEGMENT,
        example: '0123456789abcdef0123456789abcdef',
      }),
    ],
    pricesId: 'cloudflare',
    source: 'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/',
  }),
  compatible({
    id: 'oracle',
    name: 'Oracle OCI Generative AI',
    baseUrl: 'https://inference.generativeai.{oracle-region}.oci.oraclecloud.com/openai/v1',
    endpoints: ['chat-completions', 'responses', 'files', 'vector-stores'],
    fields: [
      optional({
        name: 'oracle-region',
        title: 'OCI region',
        default: 'us-chicago-1',
        pattern: /^[a-z]{2,8}(?:-[a-z]{2,16}){1,2}-\d{1,2}$/,
        example: 'eu-frankfurt-1',
      }),
    ],
    pricesId: null,
    source: 'https://docs.oracle.com/en-us/iaas/Content/generative-ai/openai-compatible-api.htm',
    unverified: 'The key is an API key of OCI Generative AI. The gateway does not sign requests for OCI IAM.',
  }),
  compatible({
    id: 'dashscope',
    name: 'Alibaba Model Studio (DashScope, international)',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    endpoints: ['chat-completions', 'responses', 'embeddings'],
    // https://alibabacloud.com/help/en/model-studio/stream
    streamUsage: { reported: 'on-request' },
    pricesId: null,
    source: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-with-openai-responses-api',
  }),
  compatible({
    id: 'dashscope-cn',
    name: 'Alibaba Model Studio (DashScope, China)',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    endpoints: ['chat-completions', 'embeddings'],
    // https://alibabacloud.com/help/en/model-studio/stream
    streamUsage: { reported: 'on-request' },
    pricesId: null,
    source: 'https://www.alibabacloud.com/help/model-studio/base-url',
  }),
  compatible({
    id: 'dashscope-us',
    name: 'Alibaba Model Studio (DashScope, United States)',
    baseUrl: 'https://dashscope-us.aliyuncs.com/compatible-mode/v1',
    // https://alibabacloud.com/help/en/model-studio/stream
    streamUsage: { reported: 'on-request' },
    pricesId: null,
    source: 'https://www.alibabacloud.com/help/model-studio/base-url',
  }),
  compatible({
    id: 'volcengine',
    name: 'Volcengine Ark',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    endpoints: ['chat-completions', 'responses'],
    pricesId: null,
    source: 'https://www.volcengine.com/docs/82379/1298459',
  }),
  compatible({
    id: 'byteplus',
    name: 'BytePlus ModelArk',
    baseUrl: 'https://ark.{byteplus-region}.bytepluses.com/api/v3',
    endpoints: ['chat-completions', 'responses', 'image-generations'],
    fields: [
      optional({
        name: 'byteplus-region',
        title: 'BytePlus region, to which the key belongs',
        default: 'ap-southeast',
        pattern: /^[a-z]{2}-[a-z]{4,9}$/,
        example: 'eu-west',
      }),
    ],
    pricesId: null,
    // Regions: https://docs.byteplus.com/en/docs/ModelArk/1541523
    source: 'https://docs.byteplus.com/en/docs/ModelArk/1346559',
  }),
  compatible({
    id: 'nvidia-nim',
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    pricesId: null,
    source: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
  }),
  compatible({
    id: 'scaleway',
    name: 'Scaleway Generative APIs',
    baseUrl: 'https://api.scaleway.ai/v1',
    endpoints: ['chat-completions', 'responses'],
    pricesId: null,
    source: 'https://www.scaleway.com/en/docs/generative-apis/api-cli/using-chat-api',
  }),
  compatible({
    id: 'ovhcloud',
    name: 'OVHcloud AI Endpoints',
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    endpoints: ['chat-completions', 'responses', 'models'],
    source: 'https://www.ovhcloud.com/en/public-cloud/ai-endpoints/catalog/gpt-oss-120b/',
  }),
  compatible({
    id: 'digitalocean',
    name: 'DigitalOcean Inference',
    baseUrl: 'https://inference.do-ai.run/v1',
    endpoints: ['chat-completions', 'responses', 'messages'],
    pricesId: null,
    source: 'https://docs.digitalocean.com/products/inference/how-to/si-endpoints/',
  }),
  compatible({
    id: 'vultr',
    name: 'Vultr Serverless Inference',
    baseUrl: 'https://api.vultrinference.com/v1',
    endpoints: ['chat-completions', 'models'],
    pricesId: null,
    source: 'https://api.vultrinference.com/',
  }),
  compatible({
    id: 'nscale',
    name: 'Nscale',
    baseUrl: 'https://inference.api.nscale.com/v1',
    endpoints: ['chat-completions', 'image-generations'],
    pricesId: null,
    source: 'https://docs.nscale.com/docs/inference/serverless-models/overview',
  }),
  compatible({
    id: 'latitude',
    name: 'Latitude.sh',
    baseUrl: 'https://api.lsh.ai/v1',
    pricesId: null,
    source: 'https://docs.latitude.sh/',
    unverified:
      'Not verified against the documentation; base URL and key come from clients of other projects.',
  }),
  compatible({
    id: 'monsterapi',
    name: 'MonsterAPI',
    baseUrl: 'https://llm.monsterapi.ai/v1',
    pricesId: null,
    source: 'https://developer.monsterapi.ai/',
    unverified:
      'Not verified against the documentation; base URL and key come from clients of other projects.',
  }),
  compatible({
    id: 'github',
    name: 'GitHub Models',
    // The first address, models.inference.ai.azure.com, was retired.
    baseUrl: 'https://models.github.ai/inference',
    endpoints: ['chat-completions', 'embeddings'],
    pricesId: null,
    source: 'https://docs.github.com/en/github-models',
  }),
];
