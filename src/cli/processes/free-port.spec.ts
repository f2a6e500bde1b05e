import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findPort } from './free-port.js';

describe('findPort', () => {
  it('says in one sentence that the port is taken and what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;

    await expect(findPort('127.0.0.1', port)).rejects.toThrow(
      `Gatehouse cannot listen on 127.0.0.1:${port}: another program uses this port. Stop it, or set GATEHOUSE_PORT to another port.`,
    );
    await expect(findPort('127.0.0.1', port, 'GATEHOUSE_PROBES_PORT')).rejects.toThrow(
      'set GATEHOUSE_PROBES_PORT to another port',
    );
    taken.close();
  });

  it('finds a free port for 0 and lets go of it', async () => {
    const port = await findPort('127.0.0.1', 0);

    expect(port).toBeGreaterThan(0);
    expect(await findPort('127.0.0.1', port)).toBe(port);
  });

  it('names a host that is not of this machine', async () => {
    await expect(findPort('192.0.2.1', 8787)).rejects.toThrow('this machine has no such address');
  });
});
