import type { EndpointId } from '../../../providers/endpoint.js';
import type { TextCoverage } from './coverage-row.js';

const READ: TextCoverage = { request: 'read', answer: 'read' };

/**
 * What guardrails judge at each first-class endpoint. An endpoint with `read` has a row in `ENDPOINT_TEXTS`. Some of its operations may have
 * a row of their own in `stored-coverage.ts`.
 */
export const ENDPOINT_COVERAGE: Readonly<Record<EndpointId, TextCoverage>> = {
  'chat-completions': READ,
  completions: READ,
  'fim-completions': READ,
  'agent-completions': READ,
  responses: READ,
  compaction: READ,
  messages: READ,
  'count-tokens': READ,
  'generate-content': READ,
  interactions: READ,
  'embed-content': READ,
  'chat-v2': READ,
  'embed-v2': READ,
  'rerank-v2': READ,
  embeddings: READ,
  rerank: READ,
  moderations: READ,
  ocr: READ,
  'image-generations': READ,
  'image-edits': READ,
  'image-variations': READ,
  speech: { request: 'read', answer: 'media' },
  transcriptions: READ,
  translations: READ,
  files: { request: 'file', answer: 'metadata' },
  batches: { request: 'file', answer: 'searched' },
  'fine-tuning': { request: 'file', answer: 'metadata' },
  'vector-stores': { request: 'unread', answer: 'read' },
  realtime: { request: 'outside', answer: 'unread' },
  models: { request: 'unread', answer: 'metadata' },
};
