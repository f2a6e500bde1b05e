import { googleCallOf } from '../../providers/endpoints/google-path.js';
import type { RequestPath } from '../types/request-path.js';

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
