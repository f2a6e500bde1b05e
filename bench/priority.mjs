/** Priority over the other programs of a busy machine, for this process and those that it starts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const BEFORE_OTHERS = -15;
/** Where Linux groups processes by session, `nice` only counts within the group, which has a value of its own. See sched(7). */
const GROUP = '/proc/self/autogroup';

/** @returns {string} what was done, for the report. The group's value is restored at the end. */
export function takePriority() {
  try {
    setPriority(BEFORE_OTHERS);
    raiseGroup();
    return `priority ${BEFORE_OTHERS}`;
  } catch (error) {
    console.error(`bench: no precedence over other programs: ${error.message}`);
    return 'no precedence over other programs';
  }
}

function raiseGroup() {
  let before;
  try {
    before = / nice (-?\d+)/.exec(readFileSync(GROUP, 'utf8'))?.[1];
  } catch {
    return; // This system has no such groups, so nice alone is enough.
  }
  if (before === undefined) return;
  writeFileSync(GROUP, String(BEFORE_OTHERS));
  process.on('exit', () => writeFileSync(GROUP, before));
}
