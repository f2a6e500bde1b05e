import type { CheckId, ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { CheckSpec } from '../../../routing-config/guardrails/hook.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import type { ProviderCaller } from '../calling/provider-caller.js';
import type { Check } from '../check.js';
import { addPrefix } from './add-prefix.js';
import { characterCount, sentenceCount, wordCount } from './counts.js';
import { jsonKeys, jsonSchemaCheck } from './json.js';
import { jwt } from './jwt.js';
import { moderateContent } from './moderate-content.js';
import { promptInjection } from './prompt-injection.js';
import { pii, secrets } from './redaction.js';
import { allowedRequestTypes, modelRules, modelWhitelist, requiredMetadataKeys } from './request.js';
import { validUrls } from './valid-urls.js';
import { log, webhook } from './webhook.js';
import {
  allLowerCase,
  allUpperCase,
  contains,
  containsCode,
  endsWith,
  notNull,
  regexMatch,
} from './wording.js';

/** External services for checks. */
export interface CheckTools {
  readonly http: HttpCaller;
  readonly provider: ProviderCaller;
}

/** Builds each check from its parameters. */
const MAKERS: { readonly [Id in CheckId]: (parameters: ParametersOf<Id>, tools: CheckTools) => Check } = {
  'default.regexMatch': regexMatch,
  'default.sentenceCount': sentenceCount,
  'default.wordCount': wordCount,
  'default.characterCount': characterCount,
  'default.jsonSchema': jsonSchemaCheck,
  'default.jsonKeys': jsonKeys,
  'default.contains': contains,
  'default.validUrls': (parameters, { http }) => validUrls(parameters, http),
  'default.containsCode': containsCode,
  'default.alluppercase': allUpperCase,
  'default.alllowercase': allLowerCase,
  'default.endsWith': endsWith,
  'default.notNull': notNull,
  'default.modelwhitelist': modelWhitelist,
  'default.modelRules': modelRules,
  'default.jwt': (parameters, { http }) => jwt(parameters, http),
  'default.requiredMetadataKeys': requiredMetadataKeys,
  'default.allowedRequestTypes': allowedRequestTypes,
  'default.webhook': (parameters, { http }) => webhook(parameters, http),
  'default.log': (parameters, { http }) => log(parameters, http),
  'default.addPrefix': addPrefix,
  'default.pii': pii,
  'default.secrets': secrets,
  'default.promptInjection': promptInjection,
  'default.moderateContent': (parameters, { provider }) => moderateContent(parameters, provider),
};

/** Builds a check. The row of its id has parsed its parameters. */
export function makeCheck({ id, parameters }: CheckSpec, tools: CheckTools): Check {
  const make = MAKERS[id] as (parameters: CheckSpec['parameters'], tools: CheckTools) => Check;
  return make(parameters, tools);
}
