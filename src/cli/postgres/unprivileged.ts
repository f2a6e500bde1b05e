import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { LauncherError } from '../launcher-error.js';

/**
 * How to run PostgreSQL's programs, which refuse to run as root, and the owner of their files.
 *
 * `prefix` goes before the program: `setpriv --pdeathsig` makes the kernel stop PostgreSQL cleanly when the launcher is killed. The setting
 * is bound to the thread that starts the process, so only the main thread may start it.
 */
export interface RunAs {
  readonly prefix: readonly string[];
  /** Required owner of the files; null when everything belongs to this user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** For `child_process.spawn`, if no tool to change the user is installed. */
  readonly spawn: { readonly uid?: number; readonly gid?: number };
}

/** Users that exist in passwd (initdb looks its user up), the preferred one first. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

/** Determines how to run programs of `programs` on files in `data`. Both folders must exist. */
export function findRunAs(programs: string, data: string): RunAs {
  const setpriv = tool('setpriv');
  if (process.getuid?.() !== 0)
    return { prefix: setpriv ? [setpriv, '--pdeathsig', 'INT', '--'] : [], owner: null, spawn: {} };

  const user = unprivilegedUser();
  if (!isPassable(programs, user) || !isPassable(data, user)) return insideUserNamespace(user, setpriv, data);
  if (!setpriv) return { prefix: [], owner: user, spawn: user };
  const { uid, gid } = user;
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig', 'INT', '--'];
  return { prefix: [setpriv, ...become], owner: user, spawn: {} };
}

/** Being another user inside and root outside gives access to folders that only root may enter. */
function insideUserNamespace(user: SystemUser, setpriv: string | null, data: string): RunAs {
  const unshare = tool('unshare');
  const { uid, gid } = user;
  const become = ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  if (!unshare || spawnSync(unshare, [...become, 'true']).status !== 0)
    throw new LauncherError(
      `PostgreSQL refuses to run as root, and the user "${user.name}" cannot reach ${data}. Start Gatehouse as an ordinary user, or set GATEHOUSE_DATA_DIR to a folder whose parents others may enter.`,
    );
  const dieWithUs = setpriv ? [setpriv, '--pdeathsig', 'INT', '--'] : [];
  return { prefix: [unshare, ...become, ...dieWithUs], owner: { uid: 0, gid: 0 }, spawn: {} };
}

interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

function unprivilegedUser(): SystemUser {
  const rows = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of UNPRIVILEGED_USERS) {
    const [, , uid, gid] = rows.find((row) => row.startsWith(`${name}:`))?.split(':') ?? [];
    if (Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new LauncherError(
    'PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody" to run it as. Start Gatehouse as an ordinary user.',
  );
}

/** Whether this user may enter the folder and all of its parents, by their mode bits. */
function isPassable(folder: string, { uid, gid }: SystemUser): boolean {
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    const { mode, uid: owner, gid: group } = statSync(path);
    const shift = owner === uid ? 6 : group === gid ? 3 : 0;
    if (((mode >> shift) & 1) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Path of a util-linux tool. BusyBox tools of the same name do not support these options. */
function tool(name: string): string | null {
  if (process.platform !== 'linux') return null;
  const path = [`/usr/bin/${name}`, `/bin/${name}`].find(existsSync);
  return path && basename(realpathSync(path)) !== 'busybox' ? path : null;
}
