import { describe, expect, it } from 'vitest';
import type { SupervisorMessage } from '../../common/processes/ipc.js';
import type { KeptProcess } from './kept-process.js';
import { LoopWatch } from './loop-watch.js';

function aProcess(name: string) {
  const received: SupervisorMessage[] = [];
  return {
    kept: { name, tell: (message: SupervisorMessage) => received.push(message) } as unknown as KeptProcess,
    received,
  };
}

/** The last report it received about the others. */
const stalledFor = ({ received }: ReturnType<typeof aProcess>) => {
  const last = received.at(-1);
  return last?.type === 'loops' ? last.stalled : null;
};

function aFleet() {
  const gateway = aProcess('gateway');
  const worker = aProcess('worker');
  const clock = { ms: 0 };
  const watch = new LoopWatch(
    () => [gateway.kept, worker.kept],
    () => clock.ms,
  );
  watch.start();
  watch.stop();
  return { gateway, worker, watch, clock };
}

describe('LoopWatch', () => {
  it('sends every process what the others report, with the name of the process, until they report otherwise', () => {
    const { gateway, worker, watch } = aFleet();
    watch.receive({ type: 'loops', stalled: [{ loop: 'shipper', seconds: 61 }] }, worker.kept);
    watch.tell();

    expect(stalledFor(gateway)).toEqual([{ loop: 'shipper', process: 'worker', seconds: 61 }]);
    expect(stalledFor(worker)).toEqual([]);

    watch.receive({ type: 'loops', stalled: [] }, worker.kept);
    watch.tell();
    expect(stalledFor(gateway)).toEqual([]);
  });

  it('counts a process that hangs, or never came up, as stalled as a whole', () => {
    const { gateway, worker, watch, clock } = aFleet();
    clock.ms = 59_000;
    watch.receive({ type: 'loops', stalled: [] }, gateway.kept);
    watch.tell();
    expect(stalledFor(gateway)).toEqual([]);

    clock.ms = 75_000;
    watch.tell();

    expect(stalledFor(gateway)).toEqual([{ loop: 'process', process: 'worker', seconds: 75 }]);
    expect(stalledFor(worker)).toEqual([]);
  });
});
