import { because } from './refusing.js';

/**
 * Parameters that an endpoint does not support if it makes one image per prompt and sends only its bytes. `name`: its name for the client.
 */
export function beyondPlainImages(name: string): ReadonlyMap<string, ReturnType<typeof because>> {
  const none = `${name} has no such control of images`;
  return new Map([
    ['n', because(`${name} makes one image per request`, '1')],
    ['response_format', because(`${name} sends images themselves; send "b64_json"`, '"b64_json"')],
    ['quality', because(none, '"auto"', '"standard"')],
    ['style', because(none)],
    ['background', because(none, '"auto"')],
    ['moderation', because(none, '"auto"')],
    ['output_format', because(none)],
    ['output_compression', because(none)],
    ['partial_images', because(none, '0')],
    ['stream', because(`${name} streams no images`, 'false')],
  ]);
}
