import { because } from './refusing.js';

/** What an endpoint cannot be asked for that makes one image of a prompt and sends it as it is. `name` is for the client. */
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
