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
const ASSISTANT = 'assistant';
const PROMPT = 'prompt';

/**
 * Roles that are one turn. Translations put all system messages before the others, and results of tools into the user's turn:
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 */
const TURNS: ReadonlyMap<string, string> = new Map([
  ['developer', SYSTEM],
  ['tool', 'user'],
  ['function', 'user'],
  ['model', ASSISTANT],
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
  /** The run of the reasoning items since the last turn of the user. */
  private reasoning: number | null = null;

  constructor(
    private readonly runs: MessageRuns,
    /** The run of the list's items that are no messages. */
    private readonly own: number,
  ) {}

  of(item: unknown): number {
    const members = membersOf(item);
    const type = typeOf(members);
    if (type === REASONING) return reasoningOf((this.reasoning ??= this.runs.next()));
    const turn = turnOf(members);
    if (turn === SYSTEM) return this.runs.of(SYSTEM);
    if (turn !== null && turn !== this.turn) {
      if (isSilent(members)) return this.runs.next();
      this.begin(turn);
    }
    if (BESIDE.test(type)) return this.runs.next();
    return turn === null ? this.own : this.run;
  }

  private begin(turn: string): void {
    this.turn = turn;
    this.run = this.runs.next();
    if (turn !== ASSISTANT) this.reasoning = null;
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
  return CALL.test(type) || type === REASONING ? ASSISTANT : null;
}

/** Roles of results, which stay without a text. */
const RESULT_ROLES: ReadonlySet<unknown> = new Set(['tool', 'function']);
const CONTENTS = ['content', 'parts', 'content_blocks', 'refusal', 'tool_plan'] as const;

/** Whether translations leave out a message, because it has neither a text nor a call. Its neighbours then become one message. */
function isSilent(item: Members): boolean {
  const { role, tool_calls, function_call } = item;
  if (RESULT_ROLES.has(role) || (typeof role !== 'string' && !Array.isArray(item.parts))) return false;
  const isCall = (Array.isArray(tool_calls) && tool_calls.length > 0) || (function_call ?? null) !== null;
  return !isCall && CONTENTS.every((name) => saysNothing(item[name]));
}

/** Parts that translations leave out, by the type. */
const THOUGHTS: ReadonlySet<string> = new Set([THINKING, 'redacted_thinking', REASONING]);
const PART_TEXTS = ['text', 'refusal'] as const;

function saysNothing(content: unknown): boolean {
  if (Array.isArray(content)) return content.every(saysNothing);
  if (typeof content === 'string') return content.trim() === '';
  if (typeof content !== 'object' || content === null) return true;
  const part = content as Members;
  if (part.thought === true || THOUGHTS.has(typeOf(part))) return true;
  const texts = PART_TEXTS.filter((name) => name in part);
  const isText = texts.length > 0 || Object.keys(part).length === 0;
  return isText && texts.every((name) => saysNothing(part[name]));
}

const typeOf = ({ type }: Members): string => (typeof type === 'string' ? type : '');

const NOBODY: Members = {};
const membersOf = (item: unknown): Members =>
  typeof item === 'object' && item !== null ? (item as Members) : NOBODY;
