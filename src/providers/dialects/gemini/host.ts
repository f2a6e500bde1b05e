import { refuseParameter } from '../refusing.js';

/** A service for Gemini's models: the two services share one dialect and differ in these properties. */
export interface Host {
  /**
   * Below the base URL: `/models/gemini-2.5-flash:generateContent`. Throws `AppError('parameter_unsupported')` for a model that this
   * service does not serve in this dialect.
   */
  pathOf(model: string, method: string): string;
  /**
   * Whether a function call and its response carry an id. AI Studio's API has ids; version 1 of Vertex AI matches calls by name and order
   * instead. https://googleapis.deno.dev/v1/aiplatform:v1.ts (GoogleCloudAiplatformV1FunctionCall)
   */
  readonly hasCallIds: boolean;
  /** Whether a file at a URL needs a MIME type. https://ai.google.dev/api/caching#FileData */
  readonly needsMimeType: boolean;
  /** The URL prefix of an uploaded file's name, `files/abc`; null if files cannot be uploaded. */
  readonly filesUrl: string | null;
  /** Where a request names its service tier: in the field `serviceTier`, or in a header. */
  readonly tierIn: 'body' | 'header';
  /** The model's name in uploads and embeddings, `models/x`. */
  resourceOf(model: string): string;
}

/** https://ai.google.dev/api/generate-content#method:-models.generatecontent */
export const aiStudio: Host = {
  pathOf: (model, method) => `/${segments(resource(model))}:${method}`,
  hasCallIds: true,
  needsMimeType: false,
  filesUrl: 'https://generativelanguage.googleapis.com/v1beta/',
  tierIn: 'body',
  resourceOf: resource,
};

/**
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/generateContent
 *
 * Google's own models only. Other publishers' models use other dialects: Anthropic's `rawPredict`, Meta's and others' `endpoints/openapi`.
 */
export const vertexAi: Host = {
  pathOf: (model, method) => `/publishers/google/models/${segments(ofGoogle(model))}:${method}`,
  hasCallIds: false,
  needsMimeType: true,
  filesUrl: null,
  // Vertex AI answers 400 to OpenAI's names of tiers in the body: https://github.com/googleapis/python-genai/issues/2433
  tierIn: 'header',
  resourceOf: ofGoogle,
};

/** Publishers that a model's name may start with, as `publisher/model` or `publisher.model`. */
const PUBLISHERS = ['google', 'anthropic', 'meta', 'mistralai', 'endpoints'];

const RESOURCES = ['models/', 'tunedModels/'];

function resource(model: string): string {
  const name = named(model);
  return RESOURCES.some((prefix) => name.startsWith(prefix)) ? name : `models/${name}`;
}

function ofGoogle(model: string): string {
  const name = named(model).replace(/^publishers\/([^/]+)\/models\//, '$1/');
  const [publisher, rest] = split(name);
  if (publisher !== 'google') {
    refuseParameter('model', `models of "${publisher}" on Vertex AI have an API that is not translated`);
  }
  return rest;
}

function split(name: string): readonly [publisher: string, model: string] {
  const slash = name.indexOf('/');
  if (slash > 0) return [name.slice(0, slash), name.slice(slash + 1)];
  const publisher = PUBLISHERS.find((known) => name.startsWith(`${known}.`));
  return publisher === undefined ? ['google', name] : [publisher, name.slice(publisher.length + 1)];
}

function named(model: string): string {
  return model === '' ? refuseParameter('model', 'this provider needs the name of a model') : model;
}

/** Each segment encoded; a segment of dots would leave the path. */
function segments(name: string): string {
  const parts = name.split('/');
  if (parts.some((part) => /^\.{0,2}$/.test(part))) refuseParameter('model', 'it is not a name of a model');
  return parts.map(encodeURIComponent).join('/');
}
