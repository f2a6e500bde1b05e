import { once } from 'node:events';
import { connect } from 'node:net';
import { CheckFailure, type ReadinessCheck } from '../common/supervision/probes.js';

const CONNECT_MS = 5_000;
const FAILURE =
  'The administration process does not respond. Requests are served; the dashboard and the administration API answer 503.';

/** Whether the administration takes connections. It serves no requests of clients, so without it the instance is degraded. */
export const administrationCheck = (socketPath: string): ReadinessCheck => ({
  name: 'administration',
  isVital: false,
  run: async () => {
    const socket = connect(socketPath);
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    } catch {
      throw new CheckFailure(FAILURE);
    } finally {
      socket.destroy();
    }
  },
});
