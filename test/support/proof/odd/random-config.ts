import { pick } from './odd-provider.js';
import { type Place, PLACES } from './wires.js';

type Random = (below: number) => number;
type Node = Readonly<Record<string, unknown>>;

const AGAIN = [429, 500, 503, 404];
const ELSEWHERE = [429, 500, 502, 503, 504];
const DEEPEST = 3;
const REQUEST_TIMEOUT_MS = 60;

/** Any config that would run: strategies within strategies, and settings wherever they may stand. `slugs`: the virtual key of each place. */
export class RandomConfig {
  constructor(
    private readonly random: Random,
    private readonly slugs: ReadonlyMap<string, string>,
  ) {}

  make(): Node {
    return this.node(DEEPEST);
  }

  private chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  private node(depth: number): Node {
    return depth === 0 || this.chance(40) ? this.target() : this.branch(depth);
  }

  private target(): Node {
    const place = pick(this.random, Object.keys(PLACES)) as Place;
    return {
      ...this.settings(),
      virtual_key: this.slugs.get(place),
      weight: 1 + this.random(3),
      override_params: { model: PLACES[place].model },
    };
  }

  private branch(depth: number): Node {
    const targets = Array.from({ length: 1 + this.random(3) }, (_, at) => ({
      ...this.node(depth - 1),
      name: `t${at}`,
    }));
    return { strategy: this.strategy(targets), targets, ...this.settings() };
  }

  private strategy(targets: readonly Node[]): Node {
    const mode = pick(this.random, ['fallback', 'fallback', 'loadbalance', 'conditional']);
    if (mode === 'loadbalance') return { mode };
    if (mode === 'conditional') {
      const conditions = [{ query: { 'params.stream': { $eq: true } }, then: 't0' }];
      return { mode, conditions, ...(this.chance(80) && { default: `t${targets.length - 1}` }) };
    }
    const canHedge = targets.length > 1 && targets.every((target) => !('targets' in target));
    return {
      mode,
      ...(this.chance(30) && { on_status_codes: ELSEWHERE }),
      ...(canHedge && this.chance(40) && { hedge: { after_ms: 20, max_share: 100, max_spend: 100 } }),
    };
  }

  private settings(): Node {
    const said = (word: string, deny: boolean): object => ({
      output_guardrails: [{ 'default.contains': { operator: 'none', words: [word] }, deny }],
    });
    return {
      ...(this.chance(30) && {
        retry: { attempts: 1 + this.random(3), ...(this.chance(40) && { on_status_codes: AGAIN }) },
      }),
      ...(this.chance(15) && { request_timeout: REQUEST_TIMEOUT_MS }),
      ...(this.chance(15) && { cache: { mode: 'simple' } }),
      ...(this.chance(8) && said('well', this.chance(50))),
      ...(this.chance(8) && said('nothing', true)),
    };
  }
}
