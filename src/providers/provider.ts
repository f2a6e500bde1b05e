import type { AuthScheme } from './auth-scheme.js';
import type { Dialect } from './dialect.js';
import type { EndpointId } from './endpoint.js';
import type { Price } from './prices/price.js';

/**
 * Everything the gateway has to know of a provider. Data, with a few pure functions:
 * nothing here sends anything. What a provider cannot do is written nowhere.
 */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /**
   * Where its API lives, without a trailing slash: `https://api.openai.com/v1`. The path that a client sends
   * below `/v1` is appended to it, so it contains the version part where the provider has one. `{name}` stands for the
   * value of a field; that field must be required or have a default. Null: the account has an address of its own,
   * which a virtual key or `x-gateway-custom-host` must name.
   */
  readonly baseUrl: string | null;
  readonly dialect: Dialect;
  readonly auth: AuthScheme;
  /** The endpoints that it has itself. Its dialect may add others by translation. */
  readonly endpoints: readonly EndpointId[];
  /**
   * Where it takes the reasoning of earlier turns back, in an assistant's message: another field than `reasoning_content`, or,
   * when null, nowhere: it refuses a request that has it.
   */
  readonly reasoningField?: 'reasoning' | null;
  /** What ids of tool calls it takes; absent where it takes those of every provider. */
  readonly callIds?: CallIdRule;
  /** Paths of its own that its clients write in full; absent where all of them lie below its base URL. */
  readonly paths?: OwnPaths;
  /** Header of an answer, in lower case, that has the address to which the client sends the bytes of a file. */
  readonly uploadAddressHeader?: string;
  /** Header of an answer, in lower case, that names the service tier where the body does not. */
  readonly tierHeader?: string;
  /** Links in its answers that its clients follow with the key that they have, which is the gateway's. They lead back to the gateway. */
  readonly links?: readonly AnswerLink[];
  /** What an account has besides its key. */
  readonly fields?: readonly AccountField[];
  /**
   * Parameters that every call carries, such as `api-version`. `{name}` stands for the value of a field. Where the client sends such a
   * parameter itself, its value counts as the field.
   */
  readonly query?: Readonly<Record<string, string>>;
  /** Parameter in which its clients may send the key instead of a header. It stays here where the gateway adds a credential. */
  readonly keyParameter?: string;
  /** Request headers that carry the account besides the key, `x-gateway-openai-project` and the like. */
  readonly accountHeaders?: readonly AccountHeader[];
  /** Name of this provider in the price data, where it differs from `id`; null when the data does not know it. */
  readonly pricesId?: string | null;
  /** Prices that the row itself states, by model. They win over the price data. */
  readonly prices?: ReadonlyMap<string, Price>;
  /** It charges a request with sound as if it had so much at least, milliseconds; the price data has no word for it. */
  readonly leastAudioInputMs?: number;
  /** Answers inside the process; there is no address to call. Only the sandbox. */
  readonly inProcess?: true;
  /** Page of the provider's documentation that the row was checked against. */
  readonly source: string;
  /** What that page left open, in a sentence for the operator. */
  readonly unverified?: string;
}

/**
 * Paths that a provider's own clients write in full, by their beginnings. A request for one goes there as it was written, once and
 * untranslated, whatever the base URL ends with.
 */
export interface OwnPaths {
  /** At the root of its host: `/v1beta`. The base URL may end with one of them, which is then not part of that root. */
  readonly atRoot?: readonly string[];
  /** Below its base URL: `/openai`. */
  readonly belowBase?: readonly string[];
  /** Those of `atRoot` that take none of the parameters of `Provider.query`. */
  readonly withoutQuery?: readonly string[];
}

/** Which ids of tool calls a provider takes. */
export interface CallIdRule {
  readonly fitting: RegExp;
  /** Of an id that has to be made: at most, and exactly where they consist of letters and digits alone. */
  readonly length: number;
  /** What may stand for characters that do not fit. */
  readonly joint: '_' | '';
}

/** A field of JSON answers that has an absolute address at the provider. */
export interface AnswerLink {
  /** Of the requests that are answered so, below the base URL. */
  readonly paths: RegExp;
  readonly field: string;
}

/** One thing, not secret, that an account has besides its key: a field of its virtual keys, or `x-gateway-<name>`. */
export interface AccountField {
  /** As in the compatible API, lower case with dashes: `azure-resource-name`. */
  readonly name: string;
  /** Words for people: "Azure resource". */
  readonly title: string;
  readonly isRequired: boolean;
  readonly default?: string;
  /** Of the whole value. A field that is part of the host must exclude everything but letters, digits and dashes. */
  readonly pattern: RegExp;
  readonly example: string;
}

/** `x-gateway-<field>` from the client, or the field of a virtual key, becomes `header` upstream. */
export interface AccountHeader {
  readonly field: string;
  readonly header: string;
}
