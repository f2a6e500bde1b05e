import type { EndpointId } from '../../../providers/endpoint.js';

/** A group of operations. `paths` are those given to `AdminController` and `PublicController`. */
interface Group {
  readonly name: string;
  readonly description: string;
  readonly paths?: readonly string[];
  readonly endpoints?: readonly EndpointId[];
}

/** Groups of the document: requests first, then the resources they need, the records they leave, and permissions. */
export const GROUPS: readonly Group[] = [
  {
    name: 'Chat and text',
    description:
      "Generate text. Bodies and responses are those of the provider's API that the path belongs to; the gateway translates where needed. Choose a provider by a virtual key, by a provider and its key, by a routing config, or by a model named `@virtual-key/model`. Every other path below `/v1` passes through to the provider unread.",
    endpoints: [
      'chat-completions',
      'completions',
      'fim-completions',
      'agent-completions',
      'responses',
      'compaction',
      'messages',
      'count-tokens',
      'generate-content',
      'interactions',
      'chat-v2',
    ],
  },
  {
    name: 'Embeddings and reranking',
    description: 'Compute vectors for texts, and sort documents by relevance.',
    endpoints: ['embed-content', 'embed-v2', 'rerank-v2', 'embeddings', 'rerank'],
  },
  {
    name: 'Moderation and OCR',
    description: 'Classify harmful content, and read documents.',
    endpoints: ['moderations', 'ocr'],
  },
  {
    name: 'Images',
    description: 'Generate and edit images.',
    endpoints: ['image-generations', 'image-edits', 'image-variations'],
  },
  {
    name: 'Audio',
    description: 'Generate speech, and transcribe or translate it.',
    endpoints: ['speech', 'transcriptions', 'translations'],
  },
  {
    name: 'Realtime',
    description: 'Talk with a model over a WebSocket, WebRTC or a phone call.',
    endpoints: ['realtime'],
  },
  {
    name: 'Files, batches and fine-tuning',
    description: 'Store files at a provider, process many requests at a lower price, and train models.',
    endpoints: ['files', 'batches', 'fine-tuning'],
  },
  {
    name: 'Vector stores',
    description: 'Store files for search at a provider.',
    endpoints: ['vector-stores'],
  },
  { name: 'Models', description: 'List the models that a request can name.', endpoints: ['models'] },
  {
    name: 'API keys',
    description:
      'Keys with which applications and administrators call the gateway. A key has scopes, and may have budgets, rate limits and an expiry.',
    paths: ['api-keys', 'admin/me'],
  },
  {
    name: 'Virtual keys',
    description:
      'Stored credentials of provider accounts, under a slug that requests name. They may have budgets, rate limits and prices of their own.',
    paths: ['virtual-keys'],
  },
  {
    name: 'Integrations and providers',
    description:
      'An integration is a provider account of the organization that several workspaces may share; a provider makes it usable in one workspace under a slug of its own.',
    paths: ['integrations', 'providers', 'provider-catalog'],
  },
  {
    name: 'Model prices',
    description:
      'Prices with which the gateway computes costs: list prices, and prices that the organization has agreed with a provider.',
    paths: ['model-configs'],
  },
  {
    name: 'Routing configs',
    description:
      'Saved documents that say how a request reaches a model: targets, fallbacks, load balancing, conditions, retries and cache. Every change makes a new version.',
    paths: ['configs'],
  },
  {
    name: 'Guardrails',
    description: 'Checks of requests and responses, and the consequences of their verdict.',
    paths: ['guardrails'],
  },
  {
    name: 'Limits and budgets',
    description:
      'How much of each budget and rate limit is used, and limits for groups of requests of a workspace.',
    paths: ['limits', 'policies/usage-limits', 'policies/rate-limits'],
  },
  {
    name: 'Request log',
    description:
      'One record for each request: what it used and cost, how it was routed, and its bodies as far as they are kept. Calls made elsewhere can be added.',
    paths: ['logs', 'logs/stream', 'logs/views', 'logs/exports', 'otel/v1/traces', 'feedback'],
  },
  {
    name: 'Analytics',
    description:
      'Requests, costs, tokens, latencies, errors and users over time and by group. All take the filters of the request log.',
    paths: ['analytics'],
  },
  {
    name: 'Organization and workspaces',
    description: 'Settings of the organization, and the workspaces into which it is divided.',
    paths: ['admin/organisation', 'admin/workspaces', 'admin/workspaces/:workspaceId/users'],
  },
  {
    name: 'Users and invites',
    description: 'Users of the organization, their roles and sessions, and invites for new ones.',
    paths: ['admin/users', 'admin/users/:userId', 'admin/users/invites', 'invites'],
  },
  {
    name: 'Sign-in',
    description:
      'Sign in to the dashboard with a password, a passkey or single sign-on, and manage your own session and second factors.',
    paths: ['auth', 'auth/passkeys', 'auth/passkeys/step-up', 'auth/single-sign-on/sign-out'],
  },
  {
    name: 'Single sign-on',
    description:
      'Identity providers for the dashboard (OpenID Connect), and issuers whose signed tokens replace API keys.',
    paths: [
      'admin/organisation/identity-providers',
      'admin/organisation/sign-in',
      'admin/organisation/sign-in-trials',
      'admin/organisation/jwt',
    ],
  },
  {
    name: 'Audit and compliance',
    description:
      'Records of changes, destinations to which they are forwarded, refused credentials, and legal holds on the request log.',
    paths: ['audit-logs', 'audit-logs/destinations', 'audit-logs/refused-credentials', 'admin/legal-holds'],
  },
];
