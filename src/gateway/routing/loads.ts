import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import type { WeightedPlan } from '../types/plan.js';

/** How fast measurements lose their weight. */
const DECAY_MS = 10_000;

/** The latency that a failure counts as: a target that fails fast must not look like a fast one. */
const FAILURE_MS = 10_000;

interface Load {
  running: number;
  /** Decaying peak of response times; 0 if unknown. */
  latencyMs: number;
  measuredAt: number;
}

/** The running requests of this process at each target of a load balance, and the targets' response times. */
export class Loads {
  private readonly loads = new WeakMap<WeightedPlan, Load>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Runs a request at a target. `whenOver` calls back when the last byte of its response has passed. A cache hit counts neither as a
   * measurement nor as load.
   */
  async measured<Answer extends TargetAnswer>(
    target: WeightedPlan,
    run: () => Promise<AttemptOutcome<Answer>>,
    whenOver: (then: () => void) => void,
  ): Promise<AttemptOutcome<Answer>> {
    const load = this.loadOf(target);
    const startedAt = this.now();
    let hasEnded = false;
    const end = (): void => {
      if (!hasEnded) load.running -= 1;
      hasEnded = true;
    };
    load.running += 1;
    whenOver(end);
    const outcome = await run();
    const latencyMs = this.now() - startedAt;
    if (outcome.kind === 'failed') {
      // A client that disconnected says nothing about the target.
      if (!hasEnded) this.note(load, Math.max(FAILURE_MS, latencyMs));
    } else if (outcome.answer.attempt?.isReplayed) end();
    else this.note(load, latencyMs);
    return outcome;
  }

  /** The target with the fewest running requests for its weight; among equals, the first from `random`, in [0, 1), on. */
  leastBusy(targets: readonly WeightedPlan[], random: number): WeightedPlan {
    const first = Math.floor(random * targets.length);
    const turned = [...targets.slice(first), ...targets.slice(0, first)];
    return turned.reduce((best, target) => (this.business(target) < this.business(best) ? target : best));
  }

  /**
   * The better of two random ones, by peak latency and running requests. Two choices spread requests nearly as well as comparing all, and
   * do not send a herd to the apparent best. https://www.eecs.harvard.edu/~michaelm/postscripts/handbook2001.pdf,
   * https://twitter.github.io/finagle/guide/Clients.html#power-of-two-choices-p2c-least-loaded
   */
  fastest(targets: readonly WeightedPlan[], random: () => number): WeightedPlan {
    const one = Math.floor(random() * targets.length);
    const step = 1 + Math.floor(random() * (targets.length - 1));
    const [first, second] = [targets[one], targets[(one + step) % targets.length]] as [
      WeightedPlan,
      WeightedPlan,
    ];
    return this.cost(second) < this.cost(first) ? second : first;
  }

  private loadOf(target: WeightedPlan): Load {
    let load = this.loads.get(target);
    if (!load) this.loads.set(target, (load = { running: 0, latencyMs: 0, measuredAt: this.now() }));
    return load;
  }

  private business(target: WeightedPlan): number {
    return (this.loadOf(target).running + 1) / target.weight;
  }

  private cost(target: WeightedPlan): number {
    return this.loadOf(target).latencyMs * this.business(target);
  }

  /** A slower response counts at once, faster ones gradually. */
  private note(load: Load, latencyMs: number): void {
    const now = this.now();
    const kept = Math.exp((load.measuredAt - now) / DECAY_MS);
    load.latencyMs = latencyMs > load.latencyMs ? latencyMs : load.latencyMs * kept + latencyMs * (1 - kept);
    load.measuredAt = now;
  }
}
