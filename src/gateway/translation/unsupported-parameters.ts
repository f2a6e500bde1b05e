import type { UnsupportedParameterRule } from '../../common/contracts/upstream-rules.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { droppableIn } from '../../providers/unsupported-parameters.js';

/** The parameters of a request that a translation step accepted, and its result. */
interface TranslationResult<Made> {
  readonly request: Json;
  readonly made: Made;
}

const HINT = 'Send "x-gateway-unsupported-parameters: drop" to send the request without it';

/** The parameters that one translation drops. Costs nothing if the provider supports all of them. */
export class ParameterDrops {
  private readonly dropped: string[] = [];

  /** `rule` is called only when the provider does not support a parameter that may be dropped. */
  constructor(
    private readonly rule: () => UnsupportedParameterRule | null,
    private readonly hints?: ReadonlySet<string>,
  ) {}

  /** In the order in which they were refused; null for none. */
  get names(): readonly string[] | null {
    return this.dropped.length > 0 ? this.dropped : null;
  }

  /**
   * Runs a step of a translation, without each parameter that it refuses and that may be dropped. For any other parameter, throws the
   * step's error; under the rule `refuse`, that error explains how to drop the parameter. Without a rule, hints are dropped.
   */
  run<Made>(request: Json, step: (request: Json) => Made): TranslationResult<Made> {
    for (let kept = request; ;) {
      try {
        return { request: kept, made: step(kept) };
      } catch (error) {
        const found = droppableIn(kept, error, this.hints);
        if (found === null) throw error;
        if ((this.rule() ?? (found.isHint ? 'drop' : 'refuse')) === 'refuse')
          throw withHint(error as AppError);
        this.dropped.push(found.name);
        kept = found.rest;
      }
    }
  }
}

function withHint({ code, details }: AppError): AppError {
  return new AppError(code, { ...details, detail: `${details.detail}. ${HINT}` });
}
