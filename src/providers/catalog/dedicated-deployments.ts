import { inHeader } from '../auth-scheme.js';
import type { Provider } from '../provider.js';
import { compatible, PATH_SEGMENT, required } from './compatible.js';

/** Providers with an address per deployment. */
export const dedicatedDeployments: readonly Provider[] = [
  compatible({
    id: 'predibase',
    name: 'Predibase',
    // The body's model is an adapter, or empty for the deployed model.
    baseUrl:
      'https://serving.app.predibase.com/{predibase-tenant-id}/deployments/v2/llms/{predibase-deployment}/v1',
    fields: [
      required({
        name: 'predibase-tenant-id',
        title: 'Predibase tenant',
        pattern: PATH_SEGMENT,
        example: '0a1b2c3d',
      }),
      required({
        name: 'predibase-deployment',
        title: 'Predibase deployment',
        pattern: PATH_SEGMENT,
        example: 'qwen3-8b',
      }),
    ],
    pricesId: null,
    source: 'https://docs.predibase.com/user-guide/inference/migrate-openai',
  }),
  compatible({
    id: 'modal',
    name: 'Modal',
    // Every app has an address of its own: https://<workspace>--<app>.modal.run/v1.
    baseUrl: null,
    source: 'https://modal.com/docs/guide/webhook-proxy-auth',
  }),
  compatible({
    id: 'modal-proxy-auth',
    name: 'Modal, behind a proxy token',
    // The key is the token's secret, and a field its id. The app itself then needs no key.
    baseUrl: null,
    auth: inHeader('modal-secret'),
    accountHeaders: [{ field: 'modal-key', header: 'modal-key' }],
    pricesId: 'modal',
    source: 'https://modal.com/docs/guide/webhook-proxy-auth',
  }),
  compatible({
    id: 'anyscale',
    name: 'Anyscale',
    // The shared endpoints were removed; a service has an address of its own.
    baseUrl: null,
    endpoints: ['chat-completions', 'completions', 'embeddings'],
    pricesId: null,
    source: 'https://docs.anyscale.com/llms/serving/guides/openai_to_oss',
  }),
];
