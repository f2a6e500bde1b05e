import { readFile } from 'node:fs/promises';
import { REMOTE_DATA_JSON_URL } from '@pydantic/genai-prices';
import {
  type PricedProvider,
  PriceDocumentError,
  readPriceDocument,
} from '../../adapters/prices/price-document.js';
import { priceWarnings } from '../../adapters/prices/price-warnings.js';
import { writeAtomically } from '../../common/files/write-atomically.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { operatorEgress } from '../../egress/operator-egress.js';
import { upstreamFailure } from '../../egress/upstream-failure.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';

export type CheckPricesOptions = JsonOption;

export interface UpdatePricesOptions extends JsonOption {
  /** Default: the public data of genai-prices. */
  readonly from?: string;
}

const TIMEOUT_MS = 60_000;
const OK = 200;

/**
 * `gatehouse prices check`: reads a price file, that of the settings by default, and warns of what is probably a mistake. Throws a
 * LauncherError with what is wrong.
 */
export async function checkPricesCommand(
  environment: NodeJS.ProcessEnv,
  file: string | undefined,
  options: CheckPricesOptions,
): Promise<number> {
  const output = new CommandOutput(options);
  const path = file ?? fileOf(loadSettings(environment));
  const document = usable(await textOf(path), path);
  const warnings = priceWarnings(document);
  output.say(`${path} ${summaryOf(document)}`);
  for (const warning of warnings) output.say(`Warning: ${warning}.`);
  output.result({ file: path, ...countsOf(document), warnings });
  return 0;
}

/**
 * `gatehouse prices update`: downloads price data, checks it, and replaces the file of the settings. A running instance reads it within
 * seconds. Nothing is replaced by a document that cannot be used.
 */
export async function updatePricesCommand(
  environment: NodeJS.ProcessEnv,
  options: UpdatePricesOptions,
): Promise<number> {
  const { from = REMOTE_DATA_JSON_URL } = options;
  const output = new CommandOutput(options);
  const settings = loadSettings(environment);
  const path = fileOf(settings);
  const text = await downloaded(from, settings);
  const document = usable(text, from);
  await writeAtomically(path, text);
  output.say(
    `${path} ${summaryOf(document)}, from ${from}. A running instance uses it within a few seconds.`,
  );
  output.result({ file: path, from, ...countsOf(document) });
  return 0;
}

function fileOf({ pricesFile }: Settings): string {
  if (pricesFile === null)
    throw new LauncherError('GATEHOUSE_PRICES_FILE is not set. Set it to the path of the price file.');
  return pricesFile;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new LauncherError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

async function downloaded(from: string, settings: Settings): Promise<string> {
  if (!URL.canParse(from) || !/^https?:$/.test(new URL(from).protocol))
    throw new LauncherError(`"${from}" is not an http or https address.`);
  const egress = operatorEgress(settings, new URL(from), 1);
  try {
    const { status, text } = await new HttpCaller(egress).call('prices', {
      method: 'GET',
      url: from,
      headers: ['accept', 'application/json'],
      body: null,
      timeoutMs: TIMEOUT_MS,
    });
    if (status !== OK)
      throw new LauncherError(`${from} responded with status ${status}. Nothing was changed.`);
    return text;
  } catch (error) {
    if (error instanceof LauncherError) throw error;
    throw new LauncherError(`${from} cannot be downloaded: ${upstreamFailure(error).message}`);
  } finally {
    await egress.close();
  }
}

function usable(text: string, from: string): readonly PricedProvider[] {
  try {
    return readPriceDocument(text);
  } catch (error) {
    if (!(error instanceof PriceDocumentError)) throw error;
    throw new LauncherError(`${from} is not a usable price file. Nothing was changed.\n${error.message}`);
  }
}

const countsOf = (document: readonly PricedProvider[]) => ({
  providers: document.length,
  models: document.reduce((sum, provider) => sum + provider.models.length, 0),
});

function summaryOf(document: readonly PricedProvider[]): string {
  const { models, providers } = countsOf(document);
  return `has ${models} models of ${providers} providers`;
}
