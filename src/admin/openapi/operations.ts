import type { OpenAPIObject } from '@nestjs/swagger';

/** Every operation of a document, as far as the caller reads it. */
export function operationsOf<Operation>({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, Operation>));
}
