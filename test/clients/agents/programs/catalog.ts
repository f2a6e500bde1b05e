import { arch, platform } from 'node:os';
import type { Program } from './program.js';

const PROMPT = 'Run the command with your shell tool, then say what it printed.';

/** https://code.claude.com/docs/en/cli-reference */
export const CLAUDE_CODE: Program = {
  name: 'Claude Code',
  executables: ['@anthropic-ai/claude-code/cli-wrapper.cjs'],
  options: ['-p', PROMPT, '--dangerously-skip-permissions'],
  environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
};

/** https://github.com/openai/codex/blob/main/docs/exec.md */
export const CODEX: Program = {
  name: 'Codex CLI',
  executables: ['@openai/codex/bin/codex.js'],
  options: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
};

/** https://geminicli.com/docs/cli/headless */
export const GEMINI_CLI: Program = {
  name: 'Gemini CLI',
  executables: ['@google/gemini-cli/bundle/gemini.js'],
  options: ['--yolo', '--skip-trust', '-p', PROMPT],
};

/** https://opencode.ai/docs/cli. The baseline runs on processors without AVX2, too. */
export const OPENCODE: Program = {
  name: 'OpenCode',
  executables: ['-baseline', ''].map((kind) => `opencode-${platform()}-${arch()}${kind}/bin/opencode`),
  options: ['run', '--auto', PROMPT],
  environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
};
