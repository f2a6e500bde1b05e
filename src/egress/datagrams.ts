import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { type ConnectorParts, judgedAddresses } from './connector.js';
import { blockedDestination, type SocketDestination } from '../common/net/destination-policy.js';
import { upstreamFailure } from './upstream-failure.js';

/** Sends datagrams to the first checked address. Rejects with an AppError. */
export async function sendDatagrams(
  parts: ConnectorParts,
  endpoint: SocketDestination,
  datagrams: readonly Buffer[],
): Promise<void> {
  const [address] = await judgedAddresses(parts, endpoint);
  if (address === undefined) throw blockedDestination(endpoint);
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  // An ICMP error of the receiver (a closed port) may arrive after the last send.
  socket.on('error', () => undefined);
  try {
    for (const datagram of datagrams) await send(socket, datagram, endpoint.port, address);
  } catch (error) {
    throw upstreamFailure(error);
  } finally {
    socket.close();
  }
}

function send(socket: Socket, datagram: Buffer, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(datagram, port, address, (error) => (error ? reject(error) : resolve()));
  });
}
