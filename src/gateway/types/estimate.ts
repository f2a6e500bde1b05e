import type { Usage } from '../../common/contracts/usage.js';
import type { ChargeKind } from '../../providers/charging/charge.js';
import type { Json } from '../../providers/endpoint.js';
import { highestCostOf } from '../../providers/prices/cost.js';
import type { Price } from '../../providers/prices/price.js';

/** The maximum usage of a request. */
export interface Estimate {
  readonly tokens: number;
  /** Nano-dollars; null when the model has no known price. */
  readonly costNanoUsd: number | null;
  /** The most expensive of the possible usages at its price. Absent when nothing is used. */
  readonly usage?: Usage;
}

/** A request whose usage has no known upper bound: it is sent only if no limit counts tokens or money. */
export interface Inestimable {
  readonly problem: 'body_unreadable' | 'usage_unknown';
  /** What could not be read, or the name of the request, for the error message. */
  readonly detail: string;
}

/** Input of an estimate. */
export interface EstimatedRequest {
  readonly charge: ChargeKind;
  /** Method and path, for display. */
  readonly name: string;
  /** The JSON body, or the fields of a form; null if it was not read. */
  readonly body: Json | null;
  /** Why it was not read. */
  readonly unreadable: string | null;
  readonly bodyBytes: number;
  readonly price: Price | null;
  /** Output tokens assumed for a request that sets no maximum itself. */
  readonly outputCeiling: number;
}

/** Requests that providers do not bill. */
export const FREE: Estimate = { tokens: 0, costNanoUsd: 0 };

/** An upper bound of a request's usage, by the most expensive way in which its provider may bill it. */
export function estimateOf(request: EstimatedRequest): Estimate | Inestimable {
  const { charge, name, body, unreadable, bodyBytes, outputCeiling } = request;
  if (charge === 'nothing') return FREE;
  if (charge === 'unmeasured') return { problem: 'usage_unknown', detail: name };
  if (!body) return { problem: 'body_unreadable', detail: unreadable ?? 'it was not read' };
  const usages = charge.most({ body, bodyBytes, outputCeiling });
  if (usages) return highestOf(usages, request.price);
  const detail = charge.unboundedBy === undefined ? name : `${name} with ${charge.unboundedBy}`;
  return { problem: 'usage_unknown', detail };
}

/** The maximum of the usages in which a provider may bill the same work. */
export function highestOf(usages: readonly Usage[], price: Price | null): Estimate {
  let tokens = 0;
  let costNanoUsd: number | null = null;
  let usage: Usage | undefined;
  for (const one of usages) {
    const cost = price && highestCostOf(one, price);
    const total = one.input_tokens + one.output_tokens;
    const isHigher = cost === null ? costNanoUsd === null && total >= tokens : cost >= (costNanoUsd ?? 0);
    if (isHigher) usage = one;
    if (cost !== null) costNanoUsd = Math.max(cost, costNanoUsd ?? 0);
    tokens = Math.max(tokens, total);
  }
  return usage ? { tokens, costNanoUsd, usage } : FREE;
}

/** Whether the usage of the request has no known upper bound. */
export const isInestimable = (estimate: Estimate | Inestimable): estimate is Inestimable =>
  'problem' in estimate;
