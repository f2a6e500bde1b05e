import { googleCallOf } from '../../providers/endpoints/google-path.js';
import type { RequestPath } from '../types/request-path.js';
import { withField } from '../../common/json/edited-json.js';

/** Values that a path contains and other clients send in the body. */
export interface PathModel {
  /** Decoded: the model of a Google request, or the deployment of an Azure request. */
  readonly model: string;
  /** Null if the body decides whether to stream. */
  readonly isStreamed: boolean | null;
}

/** An Azure deployment, which may name its target as models do, `@slug/deployment`. */
const DEPLOYMENT = /^(\/openai\/deployments\/)((?:@[^/]+\/)?[^/]+)$/;
const GOOGLES_MODEL = /[^/]+(?=:\w+$)/;

/** The model in a path; null if the body names it. The model in the path is used whatever the body contains. */
export function pathModelOf({ prefix = '', path }: RequestPath): PathModel | null {
  const google = googleCallOf(path);
  if (google) return google;
  const [, , deployment] = DEPLOYMENT.exec(prefix) ?? [];
  return deployment === undefined ? null : { model: decoded(deployment), isStreamed: null };
}

/** The same path with another model. */
export function withPathModel(requested: RequestPath, model: string): RequestPath {
  const { prefix = '', path } = requested;
  const encoded = encodeURIComponent(model);
  return DEPLOYMENT.test(prefix)
    ? { ...requested, prefix: prefix.replace(DEPLOYMENT, (_, root: string) => root + encoded) }
    : { ...requested, path: path.replace(GOOGLES_MODEL, () => encoded) };
}

/** Whether the path names a deployment. The body may then name another model, which Azure ignores. */
export const namesDeployment = ({ prefix = '' }: RequestPath): boolean => DEPLOYMENT.test(prefix);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The parts of a model that names its target, `@slug/model`. */
export interface ModelTarget {
  readonly slug: string;
  readonly model: string;
}

/** Cloudflare's and Hugging Face's models begin with an @ of their own. */
const NOT_SLUGS = ['@cf/', '@hf/'] as const;

export function modelTarget(model: string): ModelTarget | null {
  if (!model.startsWith('@') || NOT_SLUGS.some((prefix) => model.startsWith(prefix))) return null;
  const slash = model.indexOf('/');
  return slash > 1 && slash < model.length - 1
    ? { slug: model.slice(1, slash), model: model.slice(slash + 1) }
    : null;
}

/** Replaces the value of the top-level `model`; every other byte stays. */
export const withModel = (json: Buffer, model: string): Buffer =>
  withField(json, 'model', JSON.stringify(model));
