import { AppError } from '../../../common/errors/app-error.js';

/** Families of models whose parameters have different names. */
export type ModelFamily = 'anthropic' | 'nova' | 'cohere' | 'other';

/**
 * By the model's id, alone or inside an ARN or an inference profile's id: `us.anthropic.claude-…`. An application inference profile does
 * not reveal its model. https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
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
 * Whether cache marks are supported: by Claude and Nova, and possibly by an application inference profile.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html#prompt-caching-models
 */
export const takesCachePoints = (model: string): boolean =>
  familyOf(model) === 'anthropic' || familyOf(model) === 'nova' || isOwnProfile(model);

const isOwnProfile = (model: string): boolean => model.includes('application-inference-profile');

/**
 * Models that cannot be forced to call a tool. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html
 * (toolChoice)
 */
export const takesToolChoice = (model: string): boolean => !/meta\.llama/.test(model);

/**
 * The path of an operation on a model: `converse`, `converse-stream` or `invoke`. Ids contain colons and ARNs slashes, all of which are
 * encoded: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Throws `invalid_request` for an id that would
 * lead to another path.
 */
export function bedrockModelPath(model: string, operation: string): string {
  if (/^\.*$/.test(model)) throw new AppError('invalid_request', { detail: 'The model has no name.' });
  return `/model/${encodeURIComponent(Buffer.from(model).toString())}/${operation}`;
}
