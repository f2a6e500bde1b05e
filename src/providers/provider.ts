import type { AuthScheme } from './auth-scheme.js';
import type { Dialect } from './dialect.js';
import type { EndpointId } from './endpoint.js';
import type { Price } from './prices/price.js';

/**
 * All properties of a provider that the gateway needs. Data, with a few pure functions: nothing here sends anything. Unsupported features
 * are not listed.
 */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /**
   * The root of its API, without a trailing slash: `https://api.openai.com/v1`. The path that a client sends below `/v1` is appended, so it
   * includes the version part if the provider has one. `{name}` stands for the value of a field; that field must be required or have a
   * default. Null: the account has an address of its own, which a virtual key or `x-gateway-custom-host` must name.
   */
  readonly baseUrl: string | null;
  /**
   * The path that its API needs between a custom host without a version and an endpoint: `/v1beta`. Absent if a custom host is the whole
   * base URL. `{name}` stands for the value of a field.
   */
  readonly hostPath?: string;
  readonly dialect: Dialect;
  readonly auth: AuthScheme;
  /** The endpoints that it has itself. Its dialect may add others by translation. */
  readonly endpoints: readonly EndpointId[];
  /**
   * The field of an assistant's message that accepts the reasoning of earlier turns: another than `reasoning_content`, or null if it
   * refuses a request with reasoning.
   */
  readonly reasoningField?: 'reasoning' | null;
  /** The tool call ids that it accepts; absent if it accepts those of every provider. */
  readonly callIds?: CallIdRule;
  /** When its chat streams report usage; absent if its documentation does not say so. */
  readonly streamUsage?: StreamUsage;
  /** Paths of its own that its clients write in full; absent if all of them are below its base URL. */
  readonly paths?: OwnPaths;
  /** Response header, in lower case, with the URL to which the client uploads a file's bytes. */
  readonly uploadAddressHeader?: string;
  /** Response header, in lower case, that names the service tier if the body does not. */
  readonly tierHeader?: string;
  /** Links in its responses that its clients follow with their key, which is the gateway's. They are rewritten to the gateway. */
  readonly links?: readonly AnswerLink[];
  /** Account settings besides the key. */
  readonly fields?: readonly AccountField[];
  /**
   * Query parameters of every request, such as `api-version`. `{name}` stands for the value of a field. If the client sends such a
   * parameter itself, its value overrides the field.
   */
  readonly query?: Readonly<Record<string, string>>;
  /** Query parameter in which its clients may send the key instead of a header. It is removed if the gateway adds a credential. */
  readonly keyParameter?: string;
  /** Request headers that carry account settings besides the key, `x-gateway-openai-project` and the like. */
  readonly accountHeaders?: readonly AccountHeader[];
  /** Name of this provider in the price data, if it differs from `id`; null when the data lacks it. */
  readonly pricesId?: string | null;
  /** Prices in the row itself, by model. They override the price data. */
  readonly prices?: ReadonlyMap<string, Price>;
  /** Minimum audio duration that it charges per request, in milliseconds; the price data has no field for it. */
  readonly leastAudioInputMs?: number;
  /** Responds inside the process; there is no address to call. Only the sandbox. */
  readonly inProcess?: true;
  /** Page of the provider's documentation that the row was checked against. */
  readonly source: string;
  /** What that page does not specify, in a sentence for the operator. */
  readonly unverified?: string;
}

/**
 * Paths that a provider's own clients write in full, by their beginnings. A request for one is forwarded as written, once and untranslated,
 * whatever the base URL ends with.
 */
export interface OwnPaths {
  /** At the root of its host: `/v1beta`. The base URL may end with one of them, which is then not part of that root. */
  readonly atRoot?: readonly string[];
  /** Below its base URL: `/openai`. */
  readonly belowBase?: readonly string[];
  /** Those that take none of the parameters of `Provider.query`. A custom host may end with one of them. */
  readonly withoutQuery?: readonly string[];
}

/** When a provider's chat streams report their usage. */
export interface StreamUsage {
  /** `on-request`: only with `stream_options.include_usage`. `always`: in every stream, and the option has no effect or is refused. */
  readonly reported: 'on-request' | 'always';
  /** The first `api-version` with the option. Names such as `v1` and `preview` are later than every date. */
  readonly sinceVersion?: string;
}

/** The tool call ids that a provider accepts. */
export interface CallIdRule {
  readonly fitting: RegExp;
  /** Length of a generated id: a maximum, or exact if ids consist only of letters and digits. */
  readonly length: number;
  /** Replacement for characters that do not fit. */
  readonly joint: '_' | '';
}

/** A field of JSON responses that has an absolute URL at the provider. */
export interface AnswerLink {
  /** The requests with such responses, below the base URL. */
  readonly paths: RegExp;
  readonly field: string;
}

/** One account setting, not secret, besides the key: a field of its virtual keys, or `x-gateway-<name>`. */
export interface AccountField {
  /** As in the compatible API, lower case with dashes: `azure-resource-name`. */
  readonly name: string;
  /** Display name: "Azure resource". */
  readonly title: string;
  readonly isRequired: boolean;
  readonly default?: string;
  /** Of the whole value. A field that is part of the host must exclude everything but letters, digits and dashes. */
  readonly pattern: RegExp;
  readonly example: string;
  /** Requests cannot set it, only virtual keys and integrations. */
  readonly isStoredOnly?: true;
  /** It belongs to the key, so that it is not needed where the identity of the machine replaces the key. */
  readonly belongsToKey?: true;
}

/** `x-gateway-<field>` from the client, or the field of a virtual key, becomes `header` upstream. */
export interface AccountHeader {
  readonly field: string;
  readonly header: string;
}
