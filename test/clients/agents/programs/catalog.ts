import { arch, platform } from 'node:os';
import type { Program } from './program.js';

const PROMPT = 'Run the command with your shell tool, then say what it printed.';

/** https://code.claude.com/docs/en/cli-reference */
export const CLAUDE_CODE: Program = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  provider: 'anthropic',
  executables: ['@anthropic-ai/claude-code/cli-wrapper.cjs'],
  options: ['-p', PROMPT, '--dangerously-skip-permissions'],
  environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
};

/** https://github.com/openai/codex/blob/main/docs/exec.md */
export const CODEX: Program = {
  name: 'Codex CLI',
  package: '@openai/codex',
  provider: 'anthropic',
  executables: ['@openai/codex/bin/codex.js'],
  options: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
};

/** https://geminicli.com/docs/cli/headless */
export const GEMINI_CLI: Program = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  provider: 'google',
  executables: ['@google/gemini-cli/bundle/gemini.js'],
  options: ['--yolo', '--skip-trust', '-p', PROMPT],
};

/** https://opencode.ai/docs/cli. The baseline runs on processors without AVX2, too. */
export const OPENCODE: Program = {
  name: 'OpenCode',
  package: 'opencode-ai',
  provider: 'anthropic',
  executables: ['-baseline', ''].map((kind) => `opencode-${platform()}-${arch()}${kind}/bin/opencode`),
  options: ['run', '--auto', PROMPT],
  environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
};

export const PROGRAMS: readonly Program[] = [CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE];
