/** What a test file started, so that it ends whatever happened: also when the start of the next thing failed. */
export class Started {
  private readonly ends: (() => unknown)[] = [];

  /** Remembers how to end something, and gives it back. */
  add<T>(thing: T, end: (thing: T) => unknown): T {
    this.ends.push(() => end(thing));
    return thing;
  }

  /** Ends everything, the last first. The first failure is thrown when all had their turn. */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (const end of this.ends.splice(0).reverse())
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}
