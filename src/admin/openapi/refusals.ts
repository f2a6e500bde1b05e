import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

/** What this module reads of an answer; refusals come with an example (see `Refuses`). */
interface Refusal {
  readonly content?: Readonly<
    Record<string, { readonly example?: { readonly error?: { readonly code: string } } }>
  >;
}

interface Operation {
  readonly responses: Record<string, object>;
}

/** Says each refusal once, under its code, and lets operations refer to it: all of them may give the same ones. */
export function shareRefusals(document: OpenAPIObject): void {
  const shared: Record<string, object> = {};
  for (const { responses } of operationsOf<Operation>(document))
    for (const [status, response] of Object.entries(responses)) {
      const code = codeOf(response);
      if (code === undefined) continue;
      shared[code] ??= response;
      if (JSON.stringify(shared[code]) !== JSON.stringify(response))
        throw new Error(`The refusal "${code}" is described in two ways.`);
      responses[status] = { $ref: `#/components/responses/${code}` };
    }
  document.components = { ...document.components, responses: shared as never };
}

const codeOf = ({ content }: Refusal): string | undefined =>
  content?.['application/json']?.example?.error?.code;
