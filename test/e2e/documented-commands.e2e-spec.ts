import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatehouseBin } from '../support/built-service.js';
import {
  blocksIn,
  type DocumentedBlock,
  documentedBlocks,
  documentedPages,
} from '../support/documented-commands.js';
import { type OwnService, startService } from '../support/service.js';

const BLOCKS = documentedPages().flatMap(documentedBlocks);
const COMMANDS = BLOCKS.filter(({ language, notRun }) => language === 'sh' && notRun === null);

/**
 * What a block meets beside the shell: the exports of earlier blocks, `curl` that fails on a refusal, and the command of this build.
 */
const PREAMBLE = `
set -ae
if [ -f ./exports ]; then . ./exports; fi
curl() { command curl --silent --show-error --fail-with-body --max-time 20 "$@"; }
npx() { shift; node "$GATEHOUSE_BIN" "$@"; }
`;
const KEEP_EXPORTS = `
declare -px > ./exports
`;

describe('a fenced block of README and docs', () => {
  it('names its language, so that no command escapes this test', () => {
    expect(BLOCKS.filter(({ language }) => language === '').map(({ place }) => place)).toEqual([]);
  });

  it('is found with its place and its marks', () => {
    const page =
      'One\n\n```sh\ntrue\n```\n\n<!-- answers: 446 -->\n```sh\nfalse\n```\n\n<!-- not run: needs Docker -->\n\n```sh\nx\n```\n';
    expect(blocksIn('a.md', page)).toEqual([
      { place: 'a.md:3', language: 'sh', text: 'true\n', notRun: null, answers: null },
      { place: 'a.md:8', language: 'sh', text: 'false\n', notRun: null, answers: 446 },
      { place: 'a.md:14', language: 'sh', text: 'x\n', notRun: 'needs Docker', answers: null },
    ]);
  });
});

describe('a command of README and docs, pasted into one fresh service in the order of the pages,', () => {
  let service: OwnService;
  let folder: string;

  beforeAll(async () => {
    // Pages name these settings beside their commands.
    service = await startService({ env: { GATEHOUSE_BODY_SEARCH: 'on' } });
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'));
    symlinkSync(service.facts.dataDir, join(folder, 'data'));
  });

  afterAll(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(COMMANDS)('$place', async (block) => {
    const { code, output } = await pasted(block);
    if (block.answers === null) expect(code, output).toBe(0);
    else expect(output).toContain(`returned error: ${block.answers}`);
  });

  function pasted({ text }: DocumentedBlock): Promise<{ code: number; output: string }> {
    const script = `${PREAMBLE}${text.replaceAll('http://127.0.0.1:8787', service.baseUrl)}${KEEP_EXPORTS}`;
    const { PATH = '', HOME = '' } = process.env;
    const env = {
      ...{ PATH, HOME, GATEHOUSE_BIN: gatehouseBin(), OPENAI_API_KEY: 'sk-example' },
      GATEHOUSE_DATA_DIR: service.facts.dataDir,
    };
    return new Promise((resolve) => {
      execFile('bash', ['-c', script], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, output: `${stdout}${stderr}` });
      });
    });
  }
});
