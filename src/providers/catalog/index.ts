import type { Provider } from '../provider.js';
import { cloudPlatforms } from './cloud-platforms.js';
import { dedicatedDeployments } from './dedicated-deployments.js';
import { embeddingsAndRerank } from './embeddings-and-rerank.js';
import { gateways } from './gateways.js';
import { hyperscalers } from './hyperscalers.js';
import { inferenceClouds } from './inference-clouds.js';
import { media } from './media.js';
import { modelLabs } from './model-labs.js';
import { sandbox } from './sandbox.js';
import { selfHosted } from './self-hosted.js';

/** Rows of one kind, under a heading of the documentation. */
export interface CatalogGroup {
  readonly title: string;
  readonly rows: readonly Provider[];
}

/** The whole catalogue. A provider is a row in one of these; its name occurs nowhere else. */
export const catalog: readonly CatalogGroup[] = [
  { title: 'Model labs', rows: modelLabs },
  { title: 'Hyperscalers', rows: hyperscalers },
  { title: 'Cloud and data platforms', rows: cloudPlatforms },
  { title: 'Inference clouds', rows: inferenceClouds },
  { title: 'Dedicated deployments', rows: dedicatedDeployments },
  { title: 'Gateways', rows: gateways },
  { title: 'Images, sound, video, 3D', rows: media },
  { title: 'Embeddings, reranking, vector databases', rows: embeddingsAndRerank },
  { title: 'Self-hosted', rows: selfHosted },
  { title: 'Built in', rows: [sandbox] },
];
