import { googleCallOf } from '../../providers/endpoints/google-path.js';
import type { RequestPath } from '../types/request-path.js';

/** What a path says that other clients say in the body. */
export interface PathModel {
  /** Decoded: the model of a call to Google, or the deployment of a call to Azure. */
  readonly model: string;
  /** Null where the body says whether a stream is wanted. */
  readonly isStreamed: boolean | null;
}

/** A deployment of Azure's, which may name its target as models do, `@slug/deployment`. */
const DEPLOYMENT = /^(\/openai\/deployments\/)((?:@[^/]+\/)?[^/]+)$/;
const GOOGLES_MODEL = /[^/]+(?=:\w+$)/;

/**
 * The model that a path names; null where the body names it. What the path names is what is called, whatever stands in the body beside
 * it.
 */
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

/** Whether the path names a deployment, so that the body may name another model, which is of no effect at Azure. */
export const namesDeployment = ({ prefix = '' }: RequestPath): boolean => DEPLOYMENT.test(prefix);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
