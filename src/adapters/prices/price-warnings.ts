import { type ConditionalPrice, findProvider as findListed, type ModelInfo } from '@pydantic/genai-prices';
import { didYouMean } from '../../common/text/nearest-names.js';
import { providers } from '../../providers/catalog/registry.js';
import { endpointsOfModel } from '../../providers/models/kinds.js';
import type { PricedProvider } from './price-document.js';

/** What is probably a mistake in a valid price document: a line each. */
export function priceWarnings(document: readonly PricedProvider[]): readonly string[] {
  return [...unknownProviders(document), ...freeOutputs(document)];
}

function unknownProviders(document: readonly PricedProvider[]): readonly string[] {
  const known = new Set([...providers.values()].map(({ id, pricesId }) => pricesId ?? id));
  return document
    .map(({ id }, index) => ({ id, index }))
    .filter(({ id }) => !known.has(id) && findListed({ providerId: id })?.id !== id)
    .map(
      ({ id, index }) =>
        `[${index}].id: no provider has the id "${id}"${didYouMean(id, known)}, so its models are not used`,
    );
}

/** Price data does not contain a model's purpose. Its name tells chat models from embeddings, which have no output. */
function freeOutputs(document: readonly PricedProvider[]): readonly string[] {
  return document.flatMap(({ models }, provider) =>
    models.flatMap((model, index) =>
      isChat(model) && pricesOf(model).some(isInputAlone)
        ? [
            `[${provider}].models[${index}].prices: "${model.id}" has no output_mtok, so its output is free; set 0 if it is`,
          ]
        : [],
    ),
  );
}

const isChat = ({ id }: ModelInfo): boolean => endpointsOfModel(id).includes('chat-completions');

const pricesOf = ({ prices }: ModelInfo): readonly ConditionalPrice['prices'][] =>
  Array.isArray(prices) ? prices.map((each) => each.prices) : [prices];

const isInputAlone = (prices: ConditionalPrice['prices']): boolean =>
  prices.input_mtok !== undefined && prices.input_mtok !== 0 && prices.output_mtok === undefined;
