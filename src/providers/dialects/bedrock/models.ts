import { AppError } from '../../../common/errors/app-error.js';

/** Makers of models whose own parameters have names of their own. */
export type ModelFamily = 'anthropic' | 'nova' | 'cohere' | 'other';

/**
 * By the model's id, alone or inside an ARN or an inference profile's id: `us.anthropic.claude-…`. An application's own
 * inference profile tells nothing of its model. https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
 */
const FAMILIES: readonly (readonly [RegExp, ModelFamily])[] = [
  [/anthropic|claude/, 'anthropic'],
  [/nova/, 'nova'],
  [/cohere/, 'cohere'],
];

export function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}

/**
 * Whether marks of the cache are taken: by Claude and Nova, and perhaps behind a profile of one's own.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html#prompt-caching-models
 */
export const takesCachePoints = (model: string): boolean =>
  familyOf(model) === 'anthropic' || familyOf(model) === 'nova' || isOwnProfile(model);

const isOwnProfile = (model: string): boolean => model.includes('application-inference-profile');

/**
 * Models that cannot be told to call a tool.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html (toolChoice)
 */
export const takesToolChoice = (model: string): boolean => !/meta\.llama/.test(model);

/**
 * The path of an operation on a model: `converse`, `converse-stream` or `invoke`. Ids have colons and ARNs slashes, all
 * of which are encoded: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Throws
 * `invalid_request` for an id that would name another path.
 */
export function modelPath(model: string, operation: string): string {
  if (/^\.*$/.test(model)) throw new AppError('invalid_request', { detail: 'The model has no name.' });
  return `/model/${encodeURIComponent(Buffer.from(model).toString())}/${operation}`;
}
