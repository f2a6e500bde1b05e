import { documentedBlocks } from '../../../support/documented-commands.js';

/** How a page tells its readers to set a program up. */
export interface Recipe {
  /** Commands that export its environment; they use `$BASE` and `$WORKSPACE_API_KEY`. */
  readonly commands: string;
  /** Its configuration files, by their path below the home folder. */
  readonly files: Readonly<Record<string, string>>;
}

const PAGE = 'docs/clients.md';
/** The first line of a block: `# Codex CLI`, or `// OpenCode: ~/.config/opencode/opencode.json`. */
const HEADING = /^(?:#|\/\/) ([^:\n]+?)(?:: ~\/(\S+))?\n/;

/** The recipe of a program in docs/clients.md, so that a wrong page fails a test. */
export function recipeOf(program: string): Recipe {
  const blocks = documentedBlocks(PAGE).flatMap(({ text }) => {
    const [, name, path] = HEADING.exec(text) ?? [];
    return name === program ? [{ path, text }] : [];
  });
  if (blocks.length === 0) throw new Error(`${PAGE} has no recipe of ${program}.`);
  const files = blocks.flatMap(({ path, text }) => (path === undefined ? [] : [[path, text]]));
  return {
    commands: blocks
      .filter(({ path }) => path === undefined)
      .map(({ text }) => text)
      .join('\n'),
    files: Object.fromEntries(files) as Record<string, string>,
  };
}

/** The recipe with other names, all of which it must contain. */
export function adapted(recipe: Recipe, names: Readonly<Record<string, string>>): Recipe {
  const whole = JSON.stringify(recipe);
  const missing = Object.keys(names).filter((name) => !whole.includes(name));
  if (missing.length > 0) throw new Error(`The recipe does not contain ${missing.join(', ')}.`);
  return JSON.parse(
    Object.entries(names).reduce((text, [name, other]) => text.replaceAll(name, other), whole),
  ) as Recipe;
}

/** The recipe with the address and the virtual keys of a test in place of the page's, where it names them. */
export function placed(recipe: Recipe, base: string, slugOf: (provider: string) => string): Recipe {
  return JSON.parse(
    JSON.stringify(recipe)
      .replaceAll('http://127.0.0.1:8787', base)
      .replaceAll(/\b(openai|anthropic|google|bedrock)-prod\b/g, (_, provider: string) => slugOf(provider)),
  ) as Recipe;
}
