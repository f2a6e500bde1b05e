import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { jsonSchemaValidator } from '../../../routing-config/guardrails/json-schema.js';
import type { Check, CheckSubject } from '../check.js';
import { holds } from './wording.js';

/** Longer texts are not searched for JSON, because validating it would block the process. */
const JSON_CHARS_MAX = 1024 * 1024;
const VALUES_MAX = 20;
const FENCE = /```[^\n`]{0,32}\n([\s\S]*?)\n[ \t]*```/g;
const ERRORS_MAX = 5;

/** The JSON values in the texts: each text as a whole, else its code blocks, else from its first brace to its last. */
export function jsonIn({ texts }: Pick<CheckSubject, 'texts'>): unknown[] {
  if (texts.reduce((sum, { length }) => sum + length, 0) > JSON_CHARS_MAX)
    throw new Error(`the text is longer than ${JSON_CHARS_MAX} characters`);
  return texts.flatMap((text) => {
    const whole = parsed(text);
    if (whole.length > 0) return whole;
    const blocks = [...text.matchAll(FENCE)].slice(0, VALUES_MAX).flatMap(([, code = '']) => parsed(code));
    return blocks.length > 0 ? blocks : parsed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  });
}

function parsed(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    return [];
  }
}

/** One of the JSON values in the text matches the schema. */
export function jsonSchemaCheck({ schema, not }: ParametersOf<'default.jsonSchema'>): Check {
  const validate = jsonSchemaValidator(schema);
  return {
    run: (subject) => {
      const values = jsonIn(subject);
      const isValid = values.some((value) => validate(value));
      const errors = values.length === 0 ? ['there is no JSON in the text'] : problemsOf(validate);
      return { verdict: isValid !== not, data: { not, ...(isValid ? {} : { errors }) } };
    },
  };
}

/** Paths and rules; never values. */
function problemsOf({ errors }: ReturnType<typeof jsonSchemaValidator>): string[] {
  return (errors ?? [])
    .slice(0, ERRORS_MAX)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? ''}`.slice(0, 200));
}

/** The JSON values in the text have keys, at their top level. */
export const jsonKeys = ({ keys, operator }: ParametersOf<'default.jsonKeys'>): Check => ({
  run: (subject) => {
    const there = new Set(jsonIn(subject).flatMap((value) => Object.keys(value as object)));
    const present = keys.filter((key) => there.has(key));
    const missing = keys.filter((key) => !there.has(key));
    return { verdict: holds(operator, present.length, keys.length), data: { operator, present, missing } };
  },
});
