/** Lets work of the same name run one after the other, in the order in which it came, in this process. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** `patienceMs`: whose turn comes later than that is refused, so that one who hangs does not make all behind it wait in turn. */
  constructor(private readonly patienceMs: number) {}

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name);
    const turn = before ? before.then(this.unlessTooLate(work)) : work();
    const over = turn.then(nothing, nothing);
    this.last.set(name, over);
    void over.then(() => {
      if (this.last.get(name) === over) this.last.delete(name);
    });
    return turn;
  }

  private unlessTooLate<T>(work: () => Promise<T>): () => Promise<T> {
    const tooLateAt = performance.now() + this.patienceMs;
    return () => {
      if (performance.now() > tooLateAt) throw new Error('The turn came too late.');
      return work();
    };
  }
}

const nothing = (): void => undefined;
