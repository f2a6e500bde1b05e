import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { OBJECT_STORE_TIMEOUTS } from '../common/net/store-timeouts.js';
import type { Egress } from './egress.js';

type AgentConnectCallback = (error: Error | null, stream: Duplex) => void;

/**
 * An agent for packages with their own HTTP client (`node:http`): it connects through the address-checking dialer, TLS included, and keeps
 * connections for later requests. The owner closes it with `destroy`.
 */
export class EgressAgent extends Agent {
  /** Node refuses an agent whose protocol differs from the request's. */
  readonly protocol: 'http:' | 'https:';
  readonly defaultPort: number;

  constructor(
    private readonly egress: Egress,
    secure: boolean,
    connections: number,
  ) {
    super({
      keepAlive: true,
      maxSockets: connections,
      maxFreeSockets: connections,
      timeout: OBJECT_STORE_TIMEOUTS.files.idleMs,
    });
    this.protocol = secure ? 'https:' : 'http:';
    this.defaultPort = secure ? 443 : 80;
  }

  /**
   * Node calls it for each new connection, and gets the socket from the callback:
   * https://nodejs.org/docs/latest-v20.x/api/http.html#agentcreateconnectionoptions-callback
   */
  override createConnection({ host, port }: ClientRequestArgs, connected?: AgentConnectCallback): undefined {
    const endpoint = {
      secure: this.protocol === 'https:',
      host: (host ?? '').replace(/^\[|\]$/g, '').toLowerCase(),
      port: Number(port ?? this.defaultPort),
    };
    this.egress.openHttpSocket(endpoint).then(
      (socket) => connected?.(null, socket),
      (error: unknown) => connected?.(error as Error, undefined as never),
    );
  }
}
