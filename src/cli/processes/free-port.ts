import { createServer } from 'node:http';
import { LauncherError } from '../launcher-error.js';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port. Stop it, or set {setting} to another port',
  EACCES: 'this user may not open this port. Set {setting} to a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address. Set GATEHOUSE_HOST to one of its own',
  ENOTFOUND: 'there is no such name. Set GATEHOUSE_HOST to an address of this machine',
};

/**
 * Checks that the address can be listened on; for port 0, finds a free one. The port is released again; if another process takes it in the
 * meantime, the later listener reports the error. `setting`: where the port is set.
 */
export async function findPort(host: string, port: number, setting = 'GATEHOUSE_PORT'): Promise<number> {
  const probe = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port, exclusive: true }, () => {
        const address = probe.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code ?? '']?.replace('{setting}', setting) ?? message;
    throw new LauncherError(`Gatehouse cannot listen on ${host}:${port}: ${reason}.`, { cause });
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
