import type { Reply } from '../types/reply.js';

/** Reads a response to a request of the gateway's own to its end. Rejects when it breaks off or is longer than `bytesMax`. */
export function readWholeBody(reply: Reply, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    reply.attach({
      onChunk: (chunk) => {
        bytes += chunk.length;
        if (bytes <= bytesMax) chunks.push(chunk);
        else reply.cancel();
        return true;
      },
      onEnd: () => {
        resolve(Buffer.concat(chunks));
      },
      onFail: reject,
    });
  });
}
