import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { droppableIn } from '../../providers/unsupported-parameters.js';

/** What a step of a translation accepted of a request, and what it made of it. */
interface TranslationResult<Made> {
  readonly request: Json;
  readonly made: Made;
}

const HINT = 'Send "x-gateway-unsupported-parameters: drop" to send the request without it';

/** The parameters that one translation loses. Costs nothing where the provider has all of them. */
export class ParameterDrops {
  private readonly dropped: string[] = [];

  /** `mayDrop` is asked only when a parameter is refused that the request may lose. */
  constructor(private readonly mayDrop: () => boolean) {}

  /** In the order in which they were refused; null for none. */
  get names(): readonly string[] | null {
    return this.dropped.length > 0 ? this.dropped : null;
  }

  /**
   * Runs a step of a translation, without each parameter that it refuses and that the request may lose. Throws what the
   * step throws for any other; under the rule `refuse`, the error says how to drop the parameter.
   */
  run<Made>(request: Json, step: (request: Json) => Made): TranslationResult<Made> {
    for (let kept = request; ;) {
      try {
        return { request: kept, made: step(kept) };
      } catch (error) {
        const name = droppableIn(kept, error);
        if (name === null) throw error;
        if (!this.mayDrop()) throw withHint(error as AppError);
        this.dropped.push(name);
        kept = without(kept, name);
      }
    }
  }
}

function withHint({ code, details }: AppError): AppError {
  return new AppError(code, { ...details, detail: `${details.detail}. ${HINT}` });
}

export function without(request: Json, parameter: string): Json {
  return Object.fromEntries(Object.entries(request).filter(([name]) => name !== parameter));
}
