import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';

/** Parameters for features that only OpenAI stores or runs, and the values that use them. */
interface RefusedParameter {
  readonly parameter: string;
  readonly isRequested: (value: unknown) => boolean;
  readonly detail: string;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const isTrue = (value: unknown): boolean => value === true;

const NOT_KEPT = 'responses of this provider are not kept; send the earlier items in "input"';

const REFUSED: readonly RefusedParameter[] = [
  { parameter: 'previous_response_id', isRequested: isGiven, detail: NOT_KEPT },
  { parameter: 'conversation', isRequested: isGiven, detail: NOT_KEPT },
  {
    parameter: 'store',
    isRequested: isTrue,
    detail: 'responses of this provider are not kept; leave it out or send false',
  },
  { parameter: 'background', isRequested: isTrue, detail: 'this provider has no background mode' },
  {
    parameter: 'prompt',
    isRequested: isGiven,
    detail: 'prompt templates are stored at OpenAI; send "instructions" and "input"',
  },
  {
    parameter: 'context_management',
    isRequested: isGiven,
    detail: 'this provider cannot shorten the conversation',
  },
  {
    parameter: 'truncation',
    isRequested: (value) => value === 'auto',
    detail: 'this provider cannot shorten the conversation; send "disabled"',
  },
];

/** Throws `parameter_unsupported` for the first parameter that only OpenAI can serve. */
export function refuseTheImpossible(body: Json): void {
  const found = REFUSED.find(({ parameter, isRequested }) => isRequested(body[parameter]));
  if (found) throw unsupportedResponsesParameter(found.parameter, found.detail);
}

/** A known feature that this provider cannot serve. */
export const unsupportedResponsesParameter = (parameter: string, detail: string): AppError =>
  new AppError('parameter_unsupported', { parameter, detail });

/** A tool that only OpenAI runs. The error names it in `tool`, so that it may be dropped (`unsupported-parameters.ts`). */
export const hosted = (parameter: string, tool: string): AppError =>
  new AppError('parameter_unsupported', {
    ...{ parameter, tool },
    detail: `the tool "${tool}" runs at OpenAI, and this provider does not have it`,
  });

/** The request does not have the format that OpenAI documents. */
export const invalidResponsesRequest = (detail: string): AppError =>
  new AppError('invalid_request', { detail });
