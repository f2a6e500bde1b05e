import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAvailable } from '../../../support/machine.js';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

/** A Python that has the packages of a file, or why this machine has none. */
export type Interpreter = { readonly path: string } | { readonly missing: string };

/**
 * Makes a virtual environment and installs the packages of `<name>.txt` beside this file, unless an earlier run did. Each file has an
 * environment of its own, because the frameworks need different versions of OpenAI's client. Throws in CI if there is none.
 */
export async function pythonWith(name: string): Promise<Interpreter> {
  const requirements = fileURLToPath(new URL(`${name}.txt`, import.meta.url));
  const environment = `${CACHE}/python-${name}`;
  const path = `${environment}/bin/python`;
  const installed = await readFile(`${environment}/installed.txt`, 'utf8').catch(() => '');
  if (installed === (await readFile(requirements, 'utf8'))) return { path };
  try {
    await run('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))']);
  } catch {
    return missing('The agents in Python need Python 3.10 or newer with venv and ensurepip.');
  }
  try {
    await mkdir(CACHE, { recursive: true });
    await run('python3', ['-m', 'venv', '--clear', environment]);
    // Code that is not imported is not compiled.
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '--only-binary', ':all:'];
    await run(path, ['-m', 'pip', 'install', ...options, '-r', requirements]);
    await copyFile(requirements, `${environment}/installed.txt`);
    return { path };
  } catch (error) {
    return missing(`The packages of ${name}.txt cannot be installed: ${String(error)}`);
  }
}

function missing(why: string): Interpreter {
  isAvailable('Python for the agents', false, why);
  return { missing: why };
}
