import type { EndpointGroup } from '../../providers/endpoint.js';

/** A group of operations in the document. */
interface Group {
  readonly name: string;
  readonly description: string;
}

/** Groups of the document: requests first, then the resources they need, the records they leave, and permissions. */
export const GROUPS = {
  text: {
    name: 'Chat and text',
    description:
      "Generate text. Bodies and responses are those of the provider's API that the path belongs to; the gateway translates where needed. Choose a provider by a virtual key, by a provider and its key, by a routing config, or by a model named `@virtual-key/model`. Every other path below `/v1` passes through to the provider unread.",
  },
  embeddings: {
    name: 'Embeddings and reranking',
    description: 'Compute vectors for texts, and sort documents by relevance.',
  },
  moderation: { name: 'Moderation and OCR', description: 'Classify harmful content, and read documents.' },
  images: { name: 'Images', description: 'Generate and edit images.' },
  audio: { name: 'Audio', description: 'Generate speech, and transcribe or translate it.' },
  realtime: { name: 'Realtime', description: 'Talk with a model over a WebSocket, WebRTC or a phone call.' },
  files: {
    name: 'Files, batches and fine-tuning',
    description: 'Store files at a provider, process many requests at a lower price, and train models.',
  },
  'vector-stores': { name: 'Vector stores', description: 'Store files for search at a provider.' },
  models: { name: 'Models', description: 'List the models that a request can name.' },
  'api-keys': {
    name: 'API keys',
    description:
      'Keys with which applications and administrators call the gateway. A key has scopes, and may have budgets, rate limits and an expiry.',
  },
  'virtual-keys': {
    name: 'Virtual keys',
    description:
      'Stored credentials of provider accounts, under a slug that requests name. They may have budgets, rate limits and prices of their own.',
  },
  'secret-references': {
    name: 'Secret references',
    description:
      'Secrets in a secret manager, such as Vault, from which virtual keys and integrations take their credentials. The gateway reads them when they are used, and stores where they are.',
  },
  integrations: {
    name: 'Integrations and providers',
    description:
      'An integration is a provider account of the organization that several workspaces may share; a provider makes it usable in one workspace under a slug of its own.',
  },
  'model-configs': {
    name: 'Model prices',
    description:
      'Prices with which the gateway computes costs: list prices, and prices that the organization has agreed with a provider.',
  },
  configs: {
    name: 'Routing configs',
    description:
      'Saved documents that say how a request reaches a model: targets, fallbacks, load balancing, conditions, retries and cache. Every change makes a new version.',
  },
  guardrails: {
    name: 'Guardrails',
    description: 'Checks of requests and responses, and the consequences of their verdict.',
  },
  limits: {
    name: 'Limits and budgets',
    description:
      'How much of each budget and rate limit is used, and limits for groups of requests of a workspace.',
  },
  logs: {
    name: 'Request log',
    description:
      'One record for each request: what it used and cost, how it was routed, and its bodies as far as they are kept. Calls made elsewhere can be added.',
  },
  analytics: {
    name: 'Analytics',
    description:
      'Requests, costs, tokens, latencies, errors and users over time and by group. All take the filters of the request log.',
  },
  organisation: {
    name: 'Organization and workspaces',
    description: 'Settings of the organization, and the workspaces into which it is divided.',
  },
  users: {
    name: 'Users and invites',
    description: 'Users of the organization, their roles and sessions, and invites for new ones.',
  },
  auth: {
    name: 'Sign-in',
    description:
      'Sign in to the dashboard with a password, a passkey or single sign-on, and manage your own session and second factors.',
  },
  'single-sign-on': {
    name: 'Single sign-on',
    description:
      'Identity providers for the dashboard (OpenID Connect), and issuers whose signed tokens replace API keys.',
  },
  'audit-logs': {
    name: 'Audit and compliance',
    description:
      'Records of changes, destinations to which they are forwarded, refused credentials, and legal holds on the request log.',
  },
} as const satisfies Readonly<Record<EndpointGroup, Group> & Record<string, Group>>;

export type GroupId = keyof typeof GROUPS;

const isGroup = (id: string): id is GroupId => Object.hasOwn(GROUPS, id);

/** The group of a controller that names none: `admin/users/invites` is in `users`. A path without a group is a programming error. */
export function groupOfPath(path: string): GroupId {
  const [id = ''] = path.replace(/^admin\//, '').split('/');
  if (!isGroup(id))
    throw new Error(`The controller of "${path}" must name its group, an id of src/admin/openapi/groups.ts.`);
  return id;
}
