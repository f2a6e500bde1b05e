import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { OpenAPIObject } from '@nestjs/swagger';

interface Promised {
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Promised | { readonly $ref: string }>>;
}

/** What is promised, and where in the document it stands. */
interface Place {
  readonly promised: Promised;
  readonly pointer: string;
}

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly path: string;
  readonly operation: Operation;
}

const JSON_TYPE = 'application/json';
const ROOT = 'openapi.json';
const REFUSALS = '#/components/responses/';
/** Statuses of the refusals that stand under `default`. */
const GENERAL: ReadonlySet<string> = new Set(
  [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500, 503].map(String),
);

/** What the OpenAPI document promises of answers, held against real ones: a field too many is a broken promise too. */
export class Contract {
  private readonly ajv: Ajv.default;
  private readonly routes: readonly Route[];
  private readonly refusals: Readonly<Record<string, Promised>>;
  private readonly checks = new Map<string, ValidateFunction>();

  constructor(document: OpenAPIObject) {
    this.ajv = new Ajv.default({ strict: false, allErrors: true });
    addFormats.default(this.ajv);
    this.ajv.addSchema(closed(structuredClone(document)) as object, ROOT);
    this.refusals = (document.components?.responses ?? {}) as Readonly<Record<string, Promised>>;
    this.routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        path,
        operation,
      })),
    );
  }

  /** What of an answer is not as promised; empty when all is well, or when the document does not know the path. */
  mistakes(method: string, url: string, { status, body }: { status: number; body: unknown }): string[] {
    const [path = ''] = url.split('?');
    const route = this.routes
      .filter((one) => one.method === method && one.pattern.test(path))
      .sort((a, b) => count(a.path) - count(b.path))[0];
    if (!route) return [];
    const place = this.placeOf(route, String(status));
    if (!place) return [`${method} ${route.path} answered ${status}, of which the document does not speak.`];
    if (!place.promised.content?.[JSON_TYPE]) return [];
    const check = this.checkOf(`${place.pointer}/content/${escaped(JSON_TYPE)}/schema`);
    if (check(body)) return [];
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${method} ${route.path} ${status}: ${instancePath || '/'} ${String(message)} ${JSON.stringify(params)}`,
    );
  }

  /** Refusals are promised once for all operations, which refer to them. */
  private placeOf({ method, path, operation }: Route, status: string): Place | null {
    const answer =
      operation.responses[status] ?? (GENERAL.has(status) ? operation.responses['default'] : null);
    if (!answer) return null;
    if ('$ref' in answer) {
      const promised = this.refusals[answer.$ref.replace(REFUSALS, '')];
      return promised ? { promised, pointer: answer.$ref.slice(1) } : null;
    }
    const parts = ['paths', path, method.toLowerCase(), 'responses', status];
    return { promised: answer, pointer: `/${parts.map(escaped).join('/')}` };
  }

  private checkOf(pointer: string): ValidateFunction {
    const known = this.checks.get(pointer);
    if (known) return known;
    const made = this.ajv.compile({ $ref: `${ROOT}#${pointer}` });
    this.checks.set(pointer, made);
    return made;
  }
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-6 */
const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

const count = (path: string): number => path.split('{').length;

/** The document does not say so of each object, but a field that it does not name should not be there. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) value.forEach(closed);
  else if (typeof value === 'object' && value !== null) {
    const schema = value as Record<string, unknown>;
    const isObject = schema['type'] === 'object' && typeof schema['properties'] === 'object';
    if (isObject && schema['additionalProperties'] === undefined) schema['additionalProperties'] = false;
    Object.values(schema).forEach(closed);
  }
  return value;
}
