import { createServer, type Server, type Socket } from 'node:net';
import { listenOnOneOf, stopListening } from './listen.js';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text as they came, encodings undone. */
  readonly text: string;
}

/** A mail server that keeps what it is given (RFC 5321, without TLS), or refuses it. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** What it says to the text of the next mails instead of taking them; empty to take them. */
  readonly refusals: string[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (socket) => this.talk(socket));
  }

  static async start(): Promise<MailServer> {
    const server = createServer();
    return new MailServer(server, await listenOnOneOf(server, [0]));
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** What stands behind the `#` of the only link in a mail. */
  tokenIn(mail: ReceivedMail): string {
    return /#(gw_invite_\w+)/.exec(mail.text)?.[1] ?? '';
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await stopListening(this.server);
  }

  private talk(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let open: { from: string; to: string[]; lines: string[] | null } = { from: '', to: [], lines: null };
    let rest = '';
    say('220 mail.test');
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (open.lines) {
          if (line !== '.') open.lines.push(line.replace(/^\.\./, '.'));
          else {
            say(this.take(open.from, open.to, open.lines));
            open = { from: '', to: [], lines: null };
          }
          continue;
        }
        const verb = line.slice(0, 4).toUpperCase();
        if (verb === 'MAIL') open.from = addressIn(line);
        if (verb === 'RCPT') open.to.push(addressIn(line));
        if (verb === 'DATA') open.lines = [];
        say(verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 ok');
      }
    });
  }

  private take(from: string, to: readonly string[], lines: readonly string[]): string {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    this.mails.push({ from, to, text: decoded(lines.join('\n')) });
    return '250 taken';
  }
}

const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';

/** Undoes quoted-printable, which is enough for the mails of this house. */
const decoded = (text: string): string =>
  text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
