import { execFileSync } from 'node:child_process';
import { isAvailable } from './machine.js';

/** A file system in memory, to be filled: mounting one needs rights that not every machine gives. */
export class SmallDisk {
  private constructor(private readonly folder: string) {}

  /** Null if this machine does not let the test mount anything. */
  static mount(folder: string, mebibytes: number, access: 'rw' | 'ro' = 'rw'): SmallDisk | null {
    const args = ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755,${access}`, 'tmpfs', folder];
    const isMounted = succeeds(() => execFileSync('mount', args, { stdio: 'pipe' }));
    const isThere = isAvailable('A small disk', isMounted, 'Run the tests as root, with the right to mount.');
    return isThere ? new SmallDisk(folder) : null;
  }

  remove(): void {
    execFileSync('umount', ['-l', this.folder]);
  }
}

function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
