import type { AppliedPrice } from '../common/contracts/price.js';
import type { Usage } from '../common/contracts/usage.js';
import type { CACHE_STATUSES, LOG_SOURCES } from './columns/closed-columns.js';
import type { ColumnsWith, ColumnValue, LogColumnName } from './columns/log-columns.js';

/** Times are milliseconds since the epoch, and integers are numbers. */
type RecordValue<Name extends LogColumnName> = ColumnValue<Name, number, number>;

type OpenedColumn = ColumnsWith<{ readonly opened: number }>;
type RecordedColumn = OpenedColumn | ColumnsWith<{ readonly closed: number }>;
type RareColumn = ColumnsWith<{ readonly isRare: true }>;

/** The values of columns, of which rare ones may be absent. */
type ColumnsOfRecord<Names extends LogColumnName> = {
  readonly [Name in Exclude<Names, RareColumn>]: RecordValue<Name>;
} & { readonly [Name in Names & RareColumn]?: RecordValue<Name> | null };

/**
 * The record of one request, as the data plane writes it and the control plane stores it.
 *
 * There are two frames: `OpenedExchange`, on disk before the first byte goes upstream, and `RequestLogRecord`, on disk before the last byte
 * goes to the client. An exchange without a second frame was killed; the shipper closes it as `gateway_crashed`. Names are those of the
 * database columns, so nothing is renamed on the way.
 */
export interface OpenedExchange extends ColumnsOfRecord<OpenedColumn> {
  /**
   * The attempts so far, to be recorded if the process dies now. Attempts under way count with what they reserved of budgets, because their
   * provider bills for them. Present when one of them holds part of a budget, and for sessions; the last frame of an exchange counts.
   */
  readonly attempts_so_far?: readonly AttemptRecord[];
}

export type Ending = RecordValue<'ending'>;
export type LogSource = (typeof LOG_SOURCES)[number];
export type CacheStatus = (typeof CACHE_STATUSES)[number];

/** Header names and values in turn, as sent, with secrets masked. A flat list, because an object per request costs more. */
export type HeaderPairs = readonly string[];

/** A charge of an attempt to a budget. The amount is the attempt's own cost or tokens, so it is not repeated here. */
export interface Charge {
  /** Name of the counter. */
  readonly counter: string;
  readonly measure: 'cost' | 'tokens';
  /** The process that leased it, and how much of its lease is used up: nano-dollars or tokens. */
  readonly holder: string;
  readonly leased: number;
}

/** One try at one target. */
export interface AttemptRecord {
  /** Position within the request, from 0. */
  readonly attempt: number;
  /** Path of the target in the config: `config.targets[1]`; `config` when there was no list. */
  readonly option_path: string;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  /** Scheme, host and port that were called; never a path or a credential. */
  readonly origin: string;
  readonly started_at: number;
  /** Milliseconds to the first byte of the response; null when none arrived. */
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly usage: Usage | null;
  readonly cost_nano_usd: number | null;
  /** The price it was, or will be, charged at. Absent when nothing was used, no price is known, or several prices were added up. */
  readonly price?: AppliedPrice;
  /** Absent where no budget applies. */
  readonly charges?: readonly Charge[];
  /**
   * A side request that the gateway made for this request: it costs, but was not an attempt at the request itself. Not stored:
   * `option_path` shows it.
   */
  readonly isSideCall?: true;
  /** Text to count of a response that was discarded without usage. Not stored. */
  readonly countable?: CountableText & { readonly model: string | null };
  /**
   * Usage and cost are an estimate: the attempt was sent and has no recorded end (they are its reservation), or its response was cut off
   * (they cover what had arrived).
   */
  readonly isEstimated?: true;
}

/** Text whose tokens are counted outside the request loop. */
export interface CountableText {
  readonly input: string;
  readonly output: string;
  /** The provider reported the input but not the output that followed. */
  readonly isOutputOnly?: true;
}

export interface RequestLogRecord extends ColumnsOfRecord<RecordedColumn> {
  readonly usage: Usage | null;
  readonly attempts: readonly AttemptRecord[];
  /** Text to count outside the request loop when the provider reported no usage. Not stored. */
  readonly countable: CountableText | null;
  readonly request_headers: HeaderPairs;
  readonly response_headers: HeaderPairs;
}

/** The captured part of a body: the first 256 KiB and the last 64 KiB at most. */
export interface CapturedBody {
  readonly chunks: readonly Buffer[];
  /** Size of the whole body, which may exceed the captured part. */
  readonly bytes: number;
  readonly truncated: boolean;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
}

export interface CapturedBodies {
  readonly request: CapturedBody | null;
  readonly response: CapturedBody | null;
}
