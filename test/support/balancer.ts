import { Agent, createServer, request as openRequest, type Server } from 'node:http';
import { listenOnOneOf, stopListening } from './upstreams/listen.js';

/** How often each backend is asked whether it is ready, in milliseconds. */
export const HEALTH_CHECK_MS = 150;

interface Backend {
  readonly port: number;
  readonly agent: Agent;
  isReady: boolean;
  /** Health checks in a row that were not answered in time. */
  unanswered: number;
}

/**
 * After so many, a backend gets nothing while another one is ready. Of backends that are all late any is better than none, as on a busy
 * machine. One that answers something else, or refuses the connection, is unready at once.
 */
const UNANSWERED_MAX = 3;

/**
 * A plain HTTP balancer: in turn to backends whose last health check was good, over connections that it keeps,
 * without a second try. What it answers itself (502, 503) counts as a failure of those behind it.
 */
export class Balancer {
  url = '';
  private readonly backends: readonly Backend[];
  private readonly server: Server;
  private readonly checks: NodeJS.Timeout;
  private turn = 0;

  private constructor(ports: readonly number[]) {
    this.backends = ports.map((port) => ({
      port,
      agent: new Agent({ keepAlive: true }),
      isReady: false,
      unanswered: 0,
    }));
    this.checks = setInterval(() => this.backends.forEach((backend) => this.check(backend)), HEALTH_CHECK_MS);
    this.server = createServer((request, response) => {
      const usable = this.usable();
      const backend = usable[this.turn++ % usable.length];
      if (!backend) return void response.writeHead(503).end('nobody is ready');
      const { method, url: path, headers } = request;
      const onward = openRequest({
        port: backend.port,
        host: '127.0.0.1',
        agent: backend.agent,
        method,
        path,
        headers,
      });
      onward.on('response', (answer) => {
        response.writeHead(
          answer.statusCode ?? 502,
          answer.rawHeaders.filter((_, i, all) => !/^(connection|keep-alive)$/i.test(all[i - (i % 2)] ?? '')),
        );
        answer.on('error', () => response.destroy()).pipe(response);
      });
      onward.on('error', (error) =>
        response.headersSent ? response.destroy() : response.writeHead(502).end(String(error)),
      );
      request.pipe(onward);
    });
  }

  static async start(ports: readonly number[]): Promise<Balancer> {
    const balancer = new Balancer(ports);
    balancer.url = `http://127.0.0.1:${await listenOnOneOf(balancer.server, [0])}`;
    return balancer;
  }

  get readyBackends(): number {
    return this.backends.filter(({ isReady }) => isReady).length;
  }

  private usable(): readonly Backend[] {
    const ready = this.backends.filter(({ isReady }) => isReady);
    const prompt = ready.filter(({ unanswered }) => unanswered < UNANSWERED_MAX);
    return prompt.length > 0 ? prompt : ready;
  }

  async stop(): Promise<void> {
    clearInterval(this.checks);
    for (const { agent } of this.backends) agent.destroy();
    this.server.closeAllConnections();
    await stopListening(this.server);
  }

  private check(backend: Backend): void {
    const probe = openRequest(
      { port: backend.port, host: '127.0.0.1', path: '/readyz', agent: false, timeout: 1_000 },
      (answer) => {
        backend.isReady = answer.statusCode === 200;
        backend.unanswered = 0;
        answer.resume();
      },
    );
    let isLate = false;
    probe.on('timeout', () => {
      isLate = true;
      probe.destroy();
    });
    probe.on('error', () => {
      if (isLate) backend.unanswered += 1;
      else backend.isReady = false;
    });
    probe.end();
  }
}
