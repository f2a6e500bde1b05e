import type { OpenAPIObject } from '@nestjs/swagger';
import { GENERAL_CODES } from './decorators.js';
import { operationsOf } from './operations.js';

/** The response properties read here; errors have an example (see `Refuses`). */
interface Refusal {
  readonly description?: string;
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema?: object; readonly example?: { readonly error?: { readonly code: string } } }
    >
  >;
}

interface Operation {
  responses: Readonly<Record<string, object>>;
}

const GENERAL = 'refusal';

/**
 * Defines each error once: those of every operation under `default`, and those of a few operations under their code. Operations refer to
 * them.
 */
export function shareRefusals(document: OpenAPIObject): void {
  const shared: Record<string, object> = {};
  const general = new Map<string, Refusal>();
  for (const operation of operationsOf<Operation>(document)) {
    const responses: Record<string, object> = {};
    for (const [status, response] of Object.entries(operation.responses)) {
      const code = codeOf(response);
      if (code !== undefined && GENERAL_CODES.has(code)) general.set(code, response);
      else responses[status] = code === undefined ? response : shareIn(shared, code, response);
    }
    if (general.size > 0) responses['default'] = referenceTo(GENERAL);
    operation.responses = responses;
  }
  document.components = {
    ...document.components,
    responses: { ...shared, [GENERAL]: generalRefusal(general) } as never,
  };
}

const referenceTo = (name: string): object => ({ $ref: `#/components/responses/${name}` });

function shareIn(shared: Record<string, object>, code: string, response: object): object {
  shared[code] ??= response;
  if (JSON.stringify(shared[code]) !== JSON.stringify(response))
    throw new Error(`The refusal "${code}" is described in two ways.`);
  return referenceTo(code);
}

/** The general error response: the format of an error, and an example of each status. */
function generalRefusal(refusals: ReadonlyMap<string, Refusal>): object {
  const examples = [...refusals].map(([code, { description, content }]): [string, object] => [
    code,
    { summary: description, value: content?.[JSON_TYPE]?.example },
  ]);
  const [first] = refusals.values();
  return {
    description:
      'A refusal. The status and `error.code` say why; the examples show those that every operation may give.',
    content: {
      [JSON_TYPE]: {
        schema: first?.content?.[JSON_TYPE]?.schema,
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const JSON_TYPE = 'application/json';

const codeOf = ({ content }: Refusal): string | undefined => content?.[JSON_TYPE]?.example?.error?.code;
