import { editedJson } from '../../common/json/edited-json.js';
import type { Json } from '../../providers/endpoint.js';
import type { StreamUsage } from '../../providers/provider.js';
import type { WireRequest } from '../upstream/wire.js';
import { gatewayOption } from '../types/gateway-headers.js';
import type { PreparedRequest } from './prepared-request.js';

/** The option that requests the usage of a stream. https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options */
export const USAGE_OPTION = { stream_options: { include_usage: true } } as const;

const CLOSING_BRACE = 0x7d;
/** A JSON text with `stream` in it, so there is a member before. */
const ADDED_MEMBER = Buffer.from(`,${JSON.stringify(USAGE_OPTION).slice(1, -1)}`);

/**
 * Whether the gateway requests the usage of a native stream in place of the client: the provider reports it on request only, the client
 * does not request it, and no config or header turns it off. `query` is that of the request to the provider.
 */
export function requestsUsage(prepared: PreparedRequest, query: string): boolean {
  const { content, target, facts } = prepared;
  if (facts.endpoint?.usageInStreams !== 'asked' || !content.isStreamed) return false;
  if (!hasOption(target.provider.streamUsage, query) || !isOn(prepared)) return false;
  return Buffer.isBuffer(content.body) && lacksUsage(content.json);
}

function isOn({ content, planned, request }: PreparedRequest): boolean {
  if (content.path.isProxied || planned.isPassedThrough) return false;
  return planned.requestsUsage ?? gatewayOption(request.headers, 'stream-usage') !== 'false';
}

function hasOption(streamUsage: StreamUsage | undefined, query: string): boolean {
  if (streamUsage?.reported !== 'on-request') return false;
  const { sinceVersion } = streamUsage;
  if (sinceVersion === undefined) return true;
  const version = new URLSearchParams(query).get('api-version');
  return version === null || version >= sinceVersion;
}

/** Options of another type are left to the provider, which refuses them. Azure refuses the option beside its own data sources. */
function lacksUsage(json: Json | null): boolean {
  if (!json || json.data_sources !== undefined) return false;
  const options = json.stream_options ?? {};
  return typeof options === 'object' && !Array.isArray(options) && (options as Json).include_usage !== true;
}

/** The body with the option. Every other byte stays, and a body without options is not read again. */
export function withUsageRequested(body: Buffer, json: Json): WireRequest['body'] {
  const { stream_options: options } = json;
  if (options !== undefined)
    return editedJson(body, json, {
      ...json,
      stream_options: { ...(options as Json | null), ...USAGE_OPTION.stream_options },
    });
  const end = body.lastIndexOf(CLOSING_BRACE);
  return Buffer.concat([body.subarray(0, end), ADDED_MEMBER, body.subarray(end)]);
}
