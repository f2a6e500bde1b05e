import type { DestinationStream } from 'pino';

const copies: DestinationStream[] = [];

/** From now on, each line of the log, as JSON, also goes to this stream. Its `write` must neither block nor throw. */
export function copyLinesTo(stream: DestinationStream): void {
  copies.push(stream);
}

/** Writes each line to `output`, and to the streams of `copyLinesTo`. */
export function withCopies(output: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      output.write(line);
      for (const copy of copies) copy.write(line);
    },
  };
}
