import { z } from 'zod';
import { SIGNATURE_ALGORITHMS } from '../../common/contracts/signature-algorithms.js';
import { jsonSchemaValidator } from './json-schema.js';
import { patternProblem } from './linear-pattern.js';
import { REQUEST_TYPE_NAMES } from './request-types.js';

/**
 * Every check of guardrails: its parameters, and the sides of a request it can run on.
 *
 * Names are those of the compatible API if it has the check (https://portkey.ai/docs/product/guardrails). `mutates` marks the checks
 * allowed in mutators. `secrets` are parameters that are sealed when stored and never shown again.
 */

const flag = z.boolean().default(false);
const count = (fallback: number) => z.number().int().min(0).max(1_000_000_000).default(fallback);
const someTexts = z.array(z.string().min(1).max(1_000)).min(1).max(1_000);
const operator = (fallback: 'any' | 'all') => z.enum(['any', 'all', 'none']).default(fallback);
const milliseconds = (fallback: number) => z.number().int().min(1).max(30_000).default(fallback);

const pattern = z
  .string()
  .min(1)
  .max(4_096)
  .superRefine((source, context) => {
    const problem = patternProblem(source);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const schema = z.record(z.string(), z.unknown()).superRefine((given, context) => {
  try {
    jsonSchemaValidator(given);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'it cannot be read';
    context.addIssue({ code: 'custom', message: `it is not a usable JSON Schema: ${message}` });
  }
});

const address = z
  .url({ protocol: /^https?$/, error: 'it must be an http or https address' })
  .max(2_048)
  .refine((text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text), 'a URL here must not have credentials');
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Headers set by the gateway, or meant for one connection. */
const OWN_HEADERS =
  /^(content-length|content-type|host|connection|transfer-encoding|upgrade|expect|x-gateway-.*)$/i;
const headers = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, 'it is not a header name')
      .refine((name) => !OWN_HEADERS.test(name), 'the gateway sets this header'),
    z
      .string()
      .max(4_096)
      .regex(/^[\t -~]*$/, 'it must be printable ASCII'),
  )
  .default({});

/** The refinement of a range whose end must not be below its start. */
const inOrder = (least: string, most: string) => ({
  check: (given: Readonly<Record<string, unknown>>) => Number(given[least]) <= Number(given[most]),
  said: { path: [most], message: `it is less than "${least}"` },
});
const sentences = inOrder('minSentences', 'maxSentences');
const wordsInOrder = inOrder('minWords', 'maxWords');
const characters = inOrder('minCharacters', 'maxCharacters');

/** Kinds of personal data that can be recognized by their format. */
export const PII_CATEGORIES = [
  'EMAIL_ADDRESS',
  'PHONE_NUMBER',
  'CREDIT_CARD',
  'IBAN',
  'IP_ADDRESS',
  'SSN',
  'NATIONAL_ID',
] as const;

const CODE_FORMATS = [
  ...[
    'SQL',
    'Python',
    'TypeScript',
    'JavaScript',
    'Java',
    'C#',
    'C++',
    'C',
    'Ruby',
    'PHP',
    'Swift',
    'Kotlin',
    'Go',
  ],
  ...['Rust', 'Scala', 'R', 'Perl', 'Shell', 'HTML', 'CSS', 'XML', 'JSON', 'YAML', 'Markdown', 'Dockerfile'],
] as const;

const requestTypes = z.array(z.enum(REQUEST_TYPE_NAMES)).max(64).default([]);

/** The inputs of a check besides its parameters. */
export interface CheckRow {
  readonly title: string;
  readonly side: 'input' | 'both';
  readonly mutates?: true;
  readonly secrets?: readonly string[];
  readonly parameters: z.ZodType<Readonly<Record<string, unknown>>>;
}

export const CHECKS = {
  'default.regexMatch': {
    title: 'Regex match',
    side: 'both',
    parameters: z.strictObject({ rule: pattern, not: flag }),
  },
  'default.sentenceCount': {
    title: 'Sentence count',
    side: 'both',
    parameters: z
      .strictObject({ minSentences: count(0), maxSentences: count(99_999), not: flag })
      .refine(sentences.check, sentences.said),
  },
  'default.wordCount': {
    title: 'Word count',
    side: 'both',
    parameters: z
      .strictObject({ minWords: count(0), maxWords: count(99_999), not: flag })
      .refine(wordsInOrder.check, wordsInOrder.said),
  },
  'default.characterCount': {
    title: 'Character count',
    side: 'both',
    parameters: z
      .strictObject({ minCharacters: count(0), maxCharacters: count(9_999_999), not: flag })
      .refine(characters.check, characters.said),
  },
  'default.jsonSchema': {
    title: 'JSON Schema',
    side: 'both',
    parameters: z.strictObject({ schema, not: flag }),
  },
  'default.jsonKeys': {
    title: 'JSON keys',
    side: 'both',
    parameters: z.strictObject({ keys: someTexts, operator: operator('any') }),
  },
  'default.contains': {
    title: 'Contains',
    side: 'both',
    parameters: z.strictObject({ words: someTexts, operator: operator('any') }),
  },
  'default.validUrls': {
    title: 'Valid URLs',
    side: 'both',
    parameters: z.strictObject({ onlyDNS: flag, not: flag, timeout: milliseconds(3_000) }),
  },
  'default.containsCode': {
    title: 'Contains code',
    side: 'both',
    parameters: z.strictObject({ format: z.enum(CODE_FORMATS), not: flag }),
  },
  'default.alluppercase': { title: 'Upper case', side: 'both', parameters: z.strictObject({ not: flag }) },
  'default.alllowercase': { title: 'Lower case', side: 'both', parameters: z.strictObject({ not: flag }) },
  'default.endsWith': {
    title: 'Ends with',
    side: 'both',
    parameters: z.strictObject({ suffix: z.string().min(1).max(1_000), not: flag }),
  },
  'default.notNull': { title: 'Not empty', side: 'both', parameters: z.strictObject({ not: flag }) },
  'default.modelwhitelist': {
    title: 'Allowed models',
    side: 'input',
    parameters: z.strictObject({ models: someTexts, not: flag }),
  },
  'default.modelRules': {
    title: 'Models by metadata',
    side: 'input',
    parameters: z.strictObject({
      rules: z.strictObject({
        defaults: z.array(z.string().min(1).max(256)).max(1_000).default([]),
        metadata: z.record(z.string(), z.record(z.string(), someTexts)).default({}),
      }),
      not: flag,
    }),
  },
  'default.jwt': {
    title: 'JSON Web Token',
    side: 'input',
    parameters: z.strictObject({
      jwksUri: address,
      headerKey: z.string().regex(HEADER_NAME).default('authorization'),
      cacheMaxAge: z.number().int().min(1).max(604_800).default(86_400),
      clockTolerance: z.number().int().min(0).max(3_600).default(5),
      maxTokenAge: z
        .string()
        .regex(/^\d{1,6} ?[smhdw]$/, 'it must be a number and one of s, m, h, d, w')
        .default('1d'),
      algorithms: z.array(z.enum(SIGNATURE_ALGORITHMS)).min(1).default(['RS256']),
    }),
  },
  'default.requiredMetadataKeys': {
    title: 'Required metadata',
    side: 'input',
    parameters: z.strictObject({ metadataKeys: someTexts, operator: operator('all') }),
  },
  'default.allowedRequestTypes': {
    title: 'Allowed request types',
    side: 'input',
    parameters: z.strictObject({ allowedTypes: requestTypes, blockedTypes: requestTypes }),
  },
  'default.webhook': {
    title: 'Webhook',
    side: 'both',
    mutates: true,
    secrets: ['headers', 'secret'],
    parameters: z.strictObject({
      webhookURL: address,
      headers,
      secret: z.string().min(16).max(256).optional(),
      timeout: milliseconds(3_000),
      failOnError: flag,
    }),
  },
  'default.log': {
    title: 'Log',
    side: 'both',
    secrets: ['headers'],
    parameters: z.strictObject({ logURL: address, headers, timeout: milliseconds(3_000) }),
  },
  'default.addPrefix': {
    title: 'Add a prefix',
    side: 'input',
    mutates: true,
    parameters: z.strictObject({
      prefix: z.string().min(1).max(10_000),
      applyToRole: z.enum(['user', 'system', 'assistant', 'developer']).default('user'),
    }),
  },
  'default.pii': {
    title: 'Personal data',
    side: 'both',
    mutates: true,
    parameters: z.strictObject({
      categories: z
        .array(z.enum(PII_CATEGORIES))
        .min(1)
        .default([...PII_CATEGORIES]),
      redact: flag,
      reversible: flag,
    }),
  },
  'default.secrets': {
    title: 'Secrets',
    side: 'both',
    mutates: true,
    parameters: z.strictObject({ redact: flag }),
  },
  'default.promptInjection': { title: 'Prompt injection', side: 'both', parameters: z.strictObject({}) },
  'default.moderateContent': {
    title: 'Moderation by a provider',
    side: 'both',
    parameters: z.strictObject({
      virtual_key: z.string().regex(/^@?[a-z0-9][a-z0-9-]{0,63}$/, 'it must be the slug of a virtual key'),
      model: z.string().min(1).max(256).default('omni-moderation-latest'),
      categories: z.array(z.string().min(1).max(64)).max(64).default([]),
      timeout: milliseconds(5_000),
    }),
  },
} as const satisfies Readonly<Record<string, CheckRow>>;

export type CheckId = keyof typeof CHECKS;

/** The parameters of a check, with its defaults. */
export type ParametersOf<Id extends CheckId> = z.infer<(typeof CHECKS)[Id]['parameters']>;

/** Other names of a check in documents of the compatible API; compared in lower case. */
const ALIASES: Readonly<Record<string, CheckId>> = {
  'default.isalllowercase': 'default.alllowercase',
  'portkey.pii': 'default.pii',
  'portkey.moderatecontent': 'default.moderateContent',
};

const BY_NAME = new Map<string, CheckId>([
  ...Object.keys(CHECKS).map((id) => [id.toLowerCase(), id as CheckId] as const),
  ...Object.entries(ALIASES),
]);

/** The check of that name, ignoring case; undefined when there is none. */
export function checkIdOf(name: string): CheckId | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** The row of a check, without the types of its own parameters. */
export function checkRow(id: CheckId): CheckRow {
  return CHECKS[id];
}
