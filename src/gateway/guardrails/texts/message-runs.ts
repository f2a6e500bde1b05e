/**
 * Which texts of a body a model, or a reader, takes as one: the text parts of a message, and messages that are one turn. A text is in one
 * run at most. Runs are numbered; the same number below zero is the run of the reasoning beside the text.
 */
type Members = Readonly<Record<string, unknown>>;

export const NO_RUN = 0;
export const reasoningOf = (run: number): number => -Math.abs(run);
export const isReasoning = (run: number): boolean => run < 0;

/** Instructions beside the messages. Providers put them before the system messages. https://docs.claude.com/en/api/messages */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['instructions', 'system', 'systemInstruction', 'system_instruction', 'preamble'],
]);
const SYSTEM = 'system';
const PROMPT = 'prompt';

/**
 * Roles that are one turn. Translations put all system messages before the others, and results of tools into the user's turn:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 */
const TURNS: ReadonlyMap<string, string> = new Map([
  ['developer', SYSTEM],
  ['tool', 'user'],
  ['function', 'user'],
  ['model', 'assistant'],
]);
/** Items of a response stand between its messages without a role. https://platform.openai.com/docs/api-reference/responses/object */
const RESULT = /_call_output$/;
const CALL = /_call$/;
const REASONING = 'reasoning';
/** Its texts stand between those of the message, which clients join without it. */
const BESIDE = /_call$|_tool_result$/;
/** A part of the user's message with parts of its own. */
const TOOL_RESULT = 'tool_result';

/** Members that are texts of a message. */
const TEXT_NAMES: ReadonlySet<string> = new Set(['text', 'content', 'value']);
const THINKING = 'thinking';

/** The runs of one body. */
export class MessageRuns {
  private last = NO_RUN;
  private shared: Map<string, number> | null = null;

  next(): number {
    return ++this.last;
  }

  /** The run of everything with this name in the body. */
  of(name: string): number {
    this.shared ??= new Map();
    const known = this.shared.get(name) ?? this.next();
    this.shared.set(name, known);
    return known;
  }

  /** The run of a member of the body itself. */
  ofBody(name: string, body: Members): number {
    if (INSTRUCTIONS.has(name)) return this.of(SYSTEM);
    const isCompletion = typeof body.suffix === 'string' && body.suffix !== '';
    return isCompletion && (name === 'prompt' || name === 'suffix') ? this.of(PROMPT) : NO_RUN;
  }
}

/** Members of a body whose texts come first in their run, wherever they are written. */
export const leadsRun = (name: string): boolean => INSTRUCTIONS.has(name) || name === 'prompt';

/** The runs of the items of one list. */
export class ListRuns {
  private turn: string | null = null;
  private run = NO_RUN;

  constructor(
    private readonly runs: MessageRuns,
    /** The run of the list's items that are no messages. */
    private readonly own: number,
  ) {}

  of(item: unknown): number {
    const members = membersOf(item);
    const turn = turnOf(members);
    if (turn === SYSTEM) return this.runs.of(SYSTEM);
    if (turn !== null && turn !== this.turn) this.run = this.runs.next();
    this.turn = turn ?? this.turn;
    const type = typeOf(members);
    if (BESIDE.test(type)) return this.runs.next();
    if (turn === null) return this.own;
    return type === REASONING ? reasoningOf(this.run) : this.run;
  }
}

/** The run of a member, by that of its object. */
export function runBelow(name: string, holder: Members, run: number): number {
  if (run === NO_RUN) return NO_RUN;
  if (name === THINKING) return reasoningOf(run);
  if (!hasText(name, holder)) return NO_RUN;
  return holder.thought === true ? reasoningOf(run) : run;
}

function hasText(name: string, holder: Members): boolean {
  const inside = holder[name];
  const isResult = name === 'output' && RESULT.test(typeOf(holder));
  if (Array.isArray(inside)) return isResult || hasParts(name, holder);
  if (typeof inside === 'string') return isResult || TEXT_NAMES.has(name);
  return name === 'text';
}

/** Whether a list holds the parts of a message, and not a document within it. */
function hasParts(name: string, holder: Members): boolean {
  if (name === 'parts') return true;
  return name === 'content' && (turnOf(holder) !== null || typeOf(holder) === TOOL_RESULT);
}

function turnOf(item: Members): string | null {
  const { role } = item;
  if (typeof role === 'string') return TURNS.get(role) ?? role;
  const type = typeOf(item);
  // A content of Gemini's without a role is the user's. https://ai.google.dev/api/caching#Content
  if (RESULT.test(type) || Array.isArray(item.parts)) return 'user';
  return CALL.test(type) || type === REASONING ? 'assistant' : null;
}

const typeOf = ({ type }: Members): string => (typeof type === 'string' ? type : '');

const NOBODY: Members = {};
const membersOf = (item: unknown): Members =>
  typeof item === 'object' && item !== null ? (item as Members) : NOBODY;
