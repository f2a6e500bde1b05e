import type { Dice } from '../support/random-bodies.js';
import type { ProxyMode } from '../support/tcp-proxy.js';

/** Something that goes wrong. `machine` is an index; null stands for all of them. */
export type Fault =
  | {
      readonly kind: 'store';
      readonly store: 'database' | 'redis';
      readonly mode: ProxyMode;
      readonly machine: number | null;
    }
  | { readonly kind: 'kill'; readonly role: 'api' | 'worker'; readonly machine: number };

const MODES = ['refuse', 'blackhole', 'reset', 'halfopen', 'slow', 'cut'] as const satisfies ProxyMode[];
const STORES = ['database', 'redis'] as const;

/** A round has each fault once, at a machine and in an order that the seed decides. */
export function roundOfFaults(
  dice: Dice,
  machines: { readonly api: number; readonly worker: number },
): Fault[] {
  const { api, worker } = machines;
  const faults: Fault[] = [
    ...STORES.flatMap((store) =>
      MODES.map((mode): Fault => ({ kind: 'store', store, mode, machine: dice.below(api + worker) })),
    ),
    ...STORES.map((store): Fault => ({ kind: 'store', store, mode: 'refuse', machine: null })),
    { kind: 'kill', role: 'api', machine: dice.below(api) },
    { kind: 'kill', role: 'worker', machine: dice.below(worker) },
  ];
  // Fisher and Yates: every order is equally likely.
  for (let at = faults.length - 1; at > 0; at--) {
    const other = dice.below(at + 1);
    [faults[at], faults[other]] = [faults[other] as Fault, faults[at] as Fault];
  }
  return faults;
}

export const nameOf = (fault: Fault): string =>
  fault.kind === 'kill'
    ? `kill -9 of ${fault.role} ${fault.machine + 1}`
    : `${fault.store} ${fault.mode} for ${fault.machine === null ? 'all machines' : `machine ${fault.machine + 1}`}`;
