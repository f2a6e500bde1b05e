import type { SeededRandom } from '../../support/random.js';

/** A valid multipart form in unusual spelling: https://www.rfc-editor.org/rfc/rfc7578 */
export function oddForm(
  random: SeededRandom,
  model: string,
  isStreamed: boolean,
): { readonly type: string; readonly bytes: Buffer } {
  const boundary = `--x${random.whole(0, 1e9)}'()+_,-./:=?`;
  const part = (head: string, body: Buffer | string): Buffer =>
    Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
  const sound = Buffer.from(Array.from({ length: random.whole(0, 3_000) }, () => random.whole(0, 255)));
  const parts = [
    part(`Content-Disposition: form-data; name="model"`, model),
    part(`content-disposition:form-data;name=x_odd\r\nX-Part: a  b`, ' 1.0\r\n'),
    part(`CONTENT-DISPOSITION: form-data; name="timestamp_granularities[]"`, 'word'),
    part(`content-disposition: form-data; name="timestamp_granularities[]"`, 'segment'),
    ...(isStreamed ? [part(`content-disposition: form-data; name="stream"`, 'true')] : []),
    part(
      `content-disposition: form-data; name="file"; filename="żółw %22.wav"\r\nContent-Type: audio/wav`,
      Buffer.concat([sound, Buffer.from(`\r\n--${boundary.slice(0, -1)}`)]),
    ),
  ];
  const preamble = Buffer.from(random.is(0.3) ? 'preamble\r\n' : '');
  const epilogue = Buffer.from(random.is(0.3) ? '\r\nepilogue' : random.is(0.5) ? '\r\n' : '');
  return {
    type: `multipart/form-data; boundary="${boundary}"`,
    bytes: Buffer.concat([preamble, ...parts, Buffer.from(`--${boundary}--`), epilogue]),
  };
}
