import type { OpenAPIObject } from '@nestjs/swagger';

/** Every operation of a document, with the properties that the caller reads. */
export function operationsOf<Operation>({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, Operation>));
}
