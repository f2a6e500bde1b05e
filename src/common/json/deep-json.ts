/**
 * The JSON text of a value of any depth. `JSON.stringify` calls itself for each level and throws a RangeError at some thousand levels, while
 * `JSON.parse` reads any number of them.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return deepText(value);
  }
}

/** A finished piece of the text, or a value that is still to be written. */
type WritingStep = { readonly text: string } | { readonly value: unknown };

/** For parsed JSON, and members that are undefined, which `JSON.stringify` leaves out. */
function deepText(root: unknown): string {
  const pieces: string[] = [];
  const steps: WritingStep[] = [{ value: root }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    if ('text' in step) pieces.push(step.text);
    else if (typeof step.value === 'object' && step.value !== null) addReversed(steps, stepsOf(step.value));
    else pieces.push(JSON.stringify(step.value ?? null));
  }
  return pieces.join('');
}

const stepsOf = (value: object): WritingStep[] =>
  Array.isArray(value) ? listSteps(value as readonly unknown[]) : objectSteps(value);

/** One by one: a call with a spread list has a limit of arguments. */
function addReversed(steps: WritingStep[], added: readonly WritingStep[]): void {
  for (let at = added.length - 1; at >= 0; at--) steps.push(added[at] as WritingStep);
}

function listSteps(items: readonly unknown[]): WritingStep[] {
  const steps: WritingStep[] = items.flatMap((value, at) => [{ text: at === 0 ? '[' : ',' }, { value }]);
  return [...(steps.length === 0 ? [{ text: '[' }] : steps), { text: ']' }];
}

function objectSteps(members: object): WritingStep[] {
  const written = Object.entries(members as Readonly<Record<string, unknown>>).filter(
    ([, value]) => value !== undefined,
  );
  const steps: WritingStep[] = written.flatMap(([name, value], at) => [
    { text: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:` },
    { value },
  ]);
  return [...(steps.length === 0 ? [{ text: '{' }] : steps), { text: '}' }];
}

/** Steps of a path that name a field well enough: `tools[0].function.parameters`. */
const NAMED_STEPS = 4;

/** The beginning of the path to the first value that is nested deeper than `levels`; null without one. */
export function pathDeeperThan(value: unknown, levels: number): string | null {
  const steps = stepsBelow(value, levels)?.reverse().slice(0, NAMED_STEPS);
  if (!steps) return null;
  return steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

/** The steps to that value, the last one first. Calls itself at most `levels` times. */
function stepsBelow(value: unknown, levels: number): (string | number)[] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (levels === 0) return [];
  return Array.isArray(value) ? stepsInList(value, levels - 1) : stepsInObject(value, levels - 1);
}

function stepsInList(items: readonly unknown[], levels: number): (string | number)[] | null {
  for (let at = 0; at < items.length; at++) {
    const steps = stepsBelow(items[at], levels);
    if (steps) {
      steps.push(at);
      return steps;
    }
  }
  return null;
}

function stepsInObject(members: object, levels: number): (string | number)[] | null {
  for (const name in members) {
    const steps = stepsBelow((members as Readonly<Record<string, unknown>>)[name], levels);
    if (steps) {
      steps.push(name);
      return steps;
    }
  }
  return null;
}
