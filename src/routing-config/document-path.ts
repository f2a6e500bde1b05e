/** A mistake in a document, and its path: `config.targets[1].weight`. */
export interface Mistake {
  readonly path: string;
  readonly message: string;
}

const MISTAKES_MAX = 100;
const PATH_CHARS_MAX = 256;
const STEP_CHARS_MAX = 64;

/** A path in a document being read. It collects mistakes, so that a reader can continue and find all of them. */
export class DocumentPath {
  private constructor(
    readonly path: string,
    private readonly mistakes: Mistake[],
  ) {}

  static root(mistakes: Mistake[], path = 'config'): DocumentPath {
    return new DocumentPath(path, mistakes);
  }

  /** The number of mistakes so far, here and elsewhere. */
  get mistakeCount(): number {
    return this.mistakes.length;
  }

  at(step: string | number): DocumentPath {
    const path = this.path + (typeof step === 'number' ? `[${step}]` : `.${step.slice(0, STEP_CHARS_MAX)}`);
    return new DocumentPath(path.slice(0, PATH_CHARS_MAX), this.mistakes);
  }

  /** Notes the first mistake at a path. Always undefined, so that a reader can return it in place of a value. */
  refuse(message: string): undefined {
    const isKnown =
      this.mistakes.length >= MISTAKES_MAX || this.mistakes.some(({ path }) => path === this.path);
    if (!isKnown) this.mistakes.push({ path: this.path, message });
    return undefined;
  }
}
