import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './parts.js';

/** Texts of path parameters, by name. `operationId.name` takes precedence. Query parameters have their text on their DTO. */
const PATH_PARAMETERS: Readonly<Partial<Record<string, string>>> = {
  slug: 'Slug or id of the resource.',
  id: 'Id of the resource.',
  userId: 'Id of the user.',
  workspaceId: 'Id or slug of the workspace.',
  inviteId: 'Id of the invite.',
  sessionId: 'Id of the session.',
  version_id: 'Id of the version.',
  guardrail: 'Id or slug of the guardrail.',
  entity: 'Id of the counter, from the list of counters.',
  traceId: 'Id of the trace.',
  metadataKey: 'Key of the metadata.',
  groupBy: 'Property by which to group requests.',
  model: 'Id of the model, percent-encoded.',
  provider: 'Id of the provider, such as `openai`.',
  file_id: 'Id of the file.',
  batch_id: 'Id of the batch.',
  'analyticsFacet.field': 'Field of the request log whose values to list.',
};

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; description?: string }[];
}

/** Describes each path parameter. */
export function describePathParameters(document: OpenAPIObject): void {
  for (const { operationId, parameters = [] } of operationsOf<Operation>(document))
    for (const parameter of parameters) {
      if (parameter.in !== 'path') continue;
      parameter.description =
        PATH_PARAMETERS[`${operationId}.${parameter.name}`] ?? PATH_PARAMETERS[parameter.name];
    }
}
